//! Dispatches of counter passes with a column for every counter that metrics are made from.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{floats, integers, values_by_text};
use crate::columns::values::{FrameValues, I64Values};
use crate::derive::{Frames, Needs, needed};
use wavesieve_model::analysis::hardware::metrics::{Counter, Definitions, EffectiveDefinitions, Reduction};

/// Columns that describe a dispatch, in addition to its counters.
pub(crate) const OF_DISPATCH: [&str; 19] = [
    "pass",
    "gpu",
    "device",
    "kernel_id",
    "kernel_name",
    "short_name",
    "category",
    "start_ns",
    "duration_ns",
    "valid",
    "workgroup_x",
    "workgroup_y",
    "workgroup_z",
    "grid_x",
    "grid_y",
    "grid_z",
    "lds_bytes",
    "scratch_bytes",
    "dispatch_id",
];
const OF_SYMBOL: [&str; 3] = ["vgpr", "accum_vgpr", "sgpr"];

/// The source columns that it needs.
pub fn needs() -> Needs {
    let counters = vec!["pass", "dispatch_id", "counter", "value", "min", "max", "mean", "instances"];
    let mut symbols = vec!["kernel_id"];
    symbols.extend(OF_SYMBOL);
    vec![("counters", counters), ("counter_dispatches", OF_DISPATCH.to_vec()), ("kernel_symbols", symbols)]
}

/// The dispatches of a process in the order of pass, start and id, with registers of their kernels, and the counters that `definitions` can
/// use as columns named by the text of [`Counter`]; null if a dispatch has no value.
pub fn extract(tables: &Frames, definitions: &EffectiveDefinitions) -> Result<DataFrame> {
    let order = SortMultipleOptions::default().with_maintain_order(true);
    let dispatches = needed(tables, "counter_dispatches")?.sort(["pass", "start_ns", "dispatch_id"], order)?;
    let mut frame = dispatches.clone();
    let symbols = needed(tables, "kernel_symbols")?;
    frame.hstack_mut(&registers(&dispatches, symbols)?)?;
    let columns = counter_columns(needed(tables, "counters")?, &dispatches, definitions)?;
    frame.hstack_mut(&columns)?;
    Ok(frame)
}

/// Registers of the kernel of every dispatch.
pub fn registers(dispatches: &DataFrame, symbols: &DataFrame) -> Result<Vec<Column>> {
    let ids = symbols.integer("kernel_id")?;
    let row_of: BTreeMap<i64, usize> = ids.iter().enumerate().filter_map(|(row, id)| id.map(|id| (id, row))).collect();
    let kernels = dispatches.integer("kernel_id")?;
    let mut columns = Vec::new();
    for name in OF_SYMBOL {
        let values = symbols.integer(name)?;
        let of_dispatches = kernels.iter().map(|id| id.and_then(|id| row_of.get(&id)).and_then(|row| values.get(*row)));
        columns.push(integers(name, of_dispatches));
    }
    Ok(columns)
}

/// The texts of a column, and the index of the text of every row.
pub fn numbered_texts(column: &Column) -> Result<(Vec<Option<u32>>, Vec<String>)> {
    let names: RefCell<Vec<String>> = RefCell::default();
    let codes = values_by_text(column, |text| {
        let mut names = names.borrow_mut();
        names.push(text.to_owned());
        names.len() as u32 - 1
    })?;
    Ok((codes, names.into_inner()))
}

/// A column to fill: a counter, and the column of the table for its reduction.
struct Filled {
    name: String,
    reduction: Reduction,
    values: Vec<f64>,
}

/// Counters as columns, one value for each dispatch.
fn counter_columns(
    counters: &DataFrame,
    dispatches: &DataFrame,
    definitions: &EffectiveDefinitions,
) -> Result<Vec<Column>> {
    if counters.height() == 0 {
        return Ok(Vec::new());
    }
    let rows = dispatches.height();
    let (codes, names) = numbered_texts(counters.column("counter")?)?;
    let [passes, ids, instances] = counters.integers(["pass", "dispatch_id", "instances"])?;
    let place = Places::new(dispatches)?;
    let wanted = definitions.wanted();
    let renamed = accumulations(&passes, &codes, &names, definitions);

    let read = |name: &str| -> Result<Float64Chunked> { Ok(counters.column(name)?.f64()?.rechunk().into_owned()) };
    let of_reduction = BTreeMap::from([
        (Reduction::Sum, read("value")?),
        (Reduction::Max, read("max")?),
        (Reduction::Min, read("min")?),
        (Reduction::Mean, read("mean")?),
    ]);
    let mut filled: Vec<Filled> = Vec::new();
    // Columns of a code in a pass. The name of the counter differs if the code is an accumulator.
    let mut columns_of: BTreeMap<(u32, Option<&str>), Vec<usize>> = BTreeMap::new();
    let mut place_of = place.cursor();
    for (row, code) in codes.iter().enumerate() {
        let (Some(code), Some(pass), Some(id)) = (*code, passes.get(row), ids.get(row)) else { continue };
        let Some(at) = place_of.at(pass, id) else { continue };
        let other = renamed.get(&(pass, code)).map(String::as_str);
        let columns = columns_of.entry((code, other)).or_insert_with(|| {
            let name = other.or_else(|| names.get(code as usize).map(String::as_str)).unwrap_or_default();
            let mut columns = Vec::new();
            for reduction in of_reduction.keys().filter(|reduction| wanted.needs(name, **reduction)) {
                let known = filled.iter().position(|one| one.name == name && one.reduction == *reduction);
                columns.push(known.unwrap_or_else(|| {
                    filled.push(Filled { name: name.to_owned(), reduction: *reduction, values: vec![f64::NAN; rows] });
                    filled.len() - 1
                }));
            }
            columns
        });
        for column in columns.iter() {
            let Some(column) = filled.get_mut(*column) else { continue };
            // A single recorded value does not reveal the instances behind it.
            if column.reduction != Reduction::Sum && instances.get(row) <= Some(1) {
                continue;
            }
            let value = of_reduction.get(&column.reduction).and_then(|values| values.get(row));
            // Counts cannot be below 0.
            if let (Some(slot), Some(value)) = (column.values.get_mut(at), value.filter(|value| *value >= 0.0)) {
                *slot = value;
            }
        }
    }
    let present = filled.into_iter().filter(|column| column.values.iter().any(|value| !value.is_nan()));
    let mut columns: Vec<(Counter, Vec<f64>)> =
        present.map(|column| (Counter { name: column.name, reduction: column.reduction }, column.values)).collect();
    columns.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(columns.into_iter().map(|(counter, values)| nullable(&counter.to_string(), values)).collect())
}

/// A column with null in place of NaN.
pub fn nullable(name: &str, values: Vec<f64>) -> Column {
    floats(name, values.into_iter().map(|value| (!value.is_nan()).then_some(value)))
}

/// The name of the accumulated value of an accumulator in a pass, if only one counter can have been accumulated there.
fn accumulations(
    passes: &I64Values,
    codes: &[Option<u32>],
    names: &[String],
    definitions: &Definitions,
) -> BTreeMap<(i64, u32), String> {
    let code_of = |name: &String| names.iter().position(|known| known == name).map(|code| code as u32);
    let accumulators: BTreeSet<u32> = definitions.accumulated.accumulator.iter().filter_map(code_of).collect();
    let mut found: BTreeMap<i64, BTreeSet<u32>> = BTreeMap::new();
    if accumulators.is_empty() {
        return BTreeMap::new();
    }
    let levels: BTreeSet<u32> = definitions.accumulated.counters.iter().filter_map(code_of).collect();
    for (pass, code) in passes.iter().zip(codes) {
        if let (Some(pass), Some(code)) = (pass, *code)
            && (levels.contains(&code) || accumulators.contains(&code))
        {
            found.entry(pass).or_default().insert(code);
        }
    }
    let mut renamed = BTreeMap::new();
    for (pass, codes) in found {
        let mut of_pass = codes.intersection(&levels);
        if let (Some(level), None) = (of_pass.next(), of_pass.next())
            && let Some(name) = names.get(*level as usize)
        {
            let accumulated = format!("{name}_ACCUM");
            renamed.extend(codes.intersection(&accumulators).map(|code| ((pass, *code), accumulated.clone())));
        }
    }
    renamed
}

/// Rows of dispatches by pass and id.
struct Places {
    rows: Vec<((i64, i64), usize)>,
}

impl Places {
    fn new(dispatches: &DataFrame) -> Result<Self> {
        let [passes, ids] = dispatches.integers(["pass", "dispatch_id"])?;
        let keys = passes.iter().zip(ids.iter()).enumerate();
        let mut rows: Vec<((i64, i64), usize)> =
            keys.filter_map(|(row, (pass, id))| Some(((pass?, id?), row))).collect();
        rows.sort_unstable();
        Ok(Self { rows })
    }

    /// A cursor that is fast if the same dispatch is requested repeatedly.
    fn cursor(&self) -> Cursor<'_> {
        Cursor { places: self, last: None }
    }
}

struct Cursor<'a> {
    places: &'a Places,
    last: Option<((i64, i64), Option<usize>)>,
}

impl Cursor<'_> {
    fn at(&mut self, pass: i64, id: i64) -> Option<usize> {
        let key = (pass, id);
        if let Some((last, row)) = self.last
            && last == key
        {
            return row;
        }
        let rows = &self.places.rows;
        let found = rows.binary_search_by_key(&key, |(key, _)| *key).ok();
        let row = found.and_then(|found| rows.get(found)).map(|(_, row)| *row);
        self.last = Some((key, row));
        row
    }
}

//! The table `range_metric_sums`: metrics of the dispatches that were launched in each ROCTx range.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{dictionary_column, floats, integers, texts};
use crate::columns::values::FrameValues;
use crate::derive::OnDemandTables;
use crate::derive::counters::counted_dispatches::{self, OF_DISPATCH, extract as counted_dispatches, registers};
use crate::derive::counters::metric_evaluation::{BoundMetric, KernelSums};
use crate::derive::counters::metric_sums::{NO_METRIC, by_gpu, per_part, table};
use crate::derive::ranging::range_forest::{RangeForest, needs_of_work};
use crate::derive::{Build, DerivedTable, Frames, Joint, Needs, ProcessPart, RowsWhen, needed};
use wavesieve_model::analysis::hardware::metrics::EffectiveDefinitions;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["counters"]).if_found(),
    why_empty: NO_METRIC,
    ..DerivedTable::new(
        &tables::hardware::RANGE_METRIC_SUMS,
        needs,
        Build::Joint(Joint { optional_needs: Vec::new, extract, relate, keep: |_| None }),
    )
};

/// Columns with the range of a dispatch: its path, and among joined dispatches the index of the path as a number, which joining takes from
/// the process that has it.
const PATH: &str = "path";
const PATH_PLACE: &str = "path_place";

fn needs() -> Needs {
    let mut needs = counted_dispatches::needs();
    for (table, mut columns) in needs_of_work() {
        if table == "kernels" {
            columns.extend(of_kernels().filter(|name| !columns.contains(name)).collect::<Vec<_>>());
        }
        needs.push((table, columns));
    }
    needs
}

/// Columns of `kernels` that describe a counted dispatch.
fn of_kernels() -> impl Iterator<Item = &'static str> {
    OF_DISPATCH.into_iter().filter(|name| *name != "pass")
}

/// The dispatches of a process with their counters and the paths of their ranges; the kernels for a process without counters.
fn extract(
    _process: &Process,
    tables: &Frames,
    others: &dyn OnDemandTables,
    _wanted: &BTreeSet<&'static str>,
) -> Result<DataFrame> {
    let mut frame = counted_dispatches(tables, others.metrics())?;
    if frame.height() == 0 {
        frame = uncounted(needed(tables, "kernels")?, needed(tables, "kernel_symbols")?)?;
    }
    let paths = paths(tables)?;
    let ids = frame.integer("dispatch_id")?;
    let of_rows = ids.iter().map(|id| paths.get(&id?).map(String::as_str));
    frame.with_column(texts(PATH, of_rows))?;
    Ok(frame)
}

/// Kernels of a trace as dispatches without counters. Their durations do not come from a counter pass.
fn uncounted(kernels: &DataFrame, symbols: &DataFrame) -> Result<DataFrame> {
    let mut columns: Vec<Column> =
        of_kernels().map(|name| kernels.column(name).cloned()).collect::<PolarsResult<_>>()?;
    for column in columns.iter_mut().filter(|column| column.name() == "valid") {
        *column = BooleanChunked::full("valid".into(), false, kernels.height()).into_column();
    }
    columns.push(integers("pass", std::iter::repeat_n(Some(0), kernels.height())));
    columns.extend(registers(kernels, symbols)?);
    let frame = DataFrame::new_infer_height(columns)?;
    let order = SortMultipleOptions::default().with_maintain_order(true);
    Ok(frame.sort(["start_ns", "dispatch_id"], order)?)
}

/// The path of the innermost range in which each kernel of the process was launched, by its dispatch id.
fn paths(tables: &Frames) -> Result<BTreeMap<i64, String>> {
    let forest = RangeForest::from_frames(tables)?;
    let path = |place: u32| forest.paths.get(place as usize).cloned().flatten();
    let launched = forest.work.launched.iter().zip(forest.range_of());
    let kernels = launched.filter(|(launched, _)| !launched.is_copy);
    Ok(kernels.filter_map(|(launched, range)| Some((forest.work.id(launched), path(range?.path)?))).collect())
}

/// Adds up the metrics of every range over the dispatches of each rank.
fn relate(parts: &[ProcessPart<'_>], definitions: &EffectiveDefinitions) -> Result<Vec<DataFrame>> {
    let paths: BTreeSet<&str> = parts
        .iter()
        .filter_map(|(_, frame)| frame.column(PATH).ok()?.str().ok())
        .flat_map(|paths| paths.iter().flatten())
        .collect();
    let places: BTreeMap<&str, usize> = paths.iter().copied().zip(0..).collect();
    let counted: BTreeSet<i64> =
        parts.iter().filter(|(_, frame)| has_counters(frame)).map(|(process, _)| process.rank).collect();
    let numbered = |(process, frame): &ProcessPart<'_>| {
        let has_any = counted.contains(&process.rank);
        if has_any { with_places(frame, &places) } else { Ok(DataFrame::empty()) }
    };
    let numbered: Vec<ProcessPart<'_>> =
        parts.iter().map(|part| Ok((part.0, numbered(part)?))).collect::<Result<_>>()?;
    let dictionary: Vec<&str> = paths.into_iter().collect();
    let mut gpus = by_gpu(&numbered)?;
    for gpu in &mut gpus {
        let of_rows = gpu.frame.column(PATH_PLACE)?.f64()?.iter().map(|place| place.map(|place| place as usize));
        let named = dictionary_column("kernel_name", &dictionary, of_rows.collect::<Vec<_>>().into_iter())?;
        gpu.frame.with_column(named)?;
    }
    let rows = |frame: &DataFrame, ranges: &[&KernelSums], asked: &[BoundMetric]| -> Result<DataFrame> {
        let mut rows = table(frame, ranges, asked, definitions)?.drop_many(["kernel_id", "short_name", "category"]);
        rows.rename("kernel_name", PATH.into())?;
        Ok(rows)
    };
    per_part(&numbered, &gpus, definitions, |_| true, rows, &[PATH, "gpu", "ordinal", "per_ordinal"])
}

/// Whether any counter of a dispatch is known.
fn has_counters(frame: &DataFrame) -> bool {
    frame.columns().iter().any(|column| *column.dtype() == DataType::Float64)
}

fn with_places(frame: &DataFrame, places: &BTreeMap<&str, usize>) -> Result<DataFrame> {
    let mut frame = frame.clone();
    let place = |path: Option<&str>| places.get(path?).map(|place| *place as f64);
    let column = floats(PATH_PLACE, frame.column(PATH)?.str()?.iter().map(place));
    frame.drop_in_place(PATH)?;
    frame.with_column(column)?;
    Ok(frame)
}

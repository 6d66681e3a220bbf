//! `counters` and `counter_instances`. A counter that was not sampled for a dispatch has no row.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::columns::Col;
use super::header::Layout;
use super::rows::{UnderstoodRow, scan};
use super::survey::{Survey, Surveyed};
use crate::common::{TableBuilder, Words, put_counter_instances, put_counters};
use wavesieve_model::schema::anomaly::Severity;

/// Values in recorded order: the position of the run, the name and the value of each.
#[derive(Default)]
struct Values {
    names: Words,
    runs: Vec<usize>,
    values: Vec<f64>,
    differing: Vec<i64>,
}

impl Values {
    fn push(&mut self, run: usize, counter: usize, value: Option<f64>) {
        if let Some(value) = value {
            self.runs.push(run);
            self.names.codes.push(Some(counter));
            self.values.push(value);
        }
    }

    /// Adds a row of the wide layout; `codes` are the codes of the counters in the header.
    fn add_wide(&mut self, file: &Surveyed, row: &UnderstoodRow<'_>, run: usize, codes: &[usize]) {
        // A repeated sample of a counter counts if the first sample is missing.
        let mut again: BTreeMap<usize, f64> = BTreeMap::new();
        for (repeat, value) in file.header.repeats.iter().zip(row.repeated) {
            let Some(value) = *value else { continue };
            match row.values.get(repeat.of).copied().flatten() {
                Some(first) if first.total_cmp(&value).is_ne() => self.differing.push(row.dispatch),
                Some(_) => {}
                None => {
                    again.entry(repeat.of).or_insert(value);
                }
            }
        }
        for (at, (value, code)) in row.values.iter().zip(codes).enumerate() {
            self.push(run, *code, value.or_else(|| again.get(&at).copied()));
        }
    }
}

/// One row per value of a run, with the canonical columns of `counter_instances`.
fn instances(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<DataFrame> {
    let mut all = Values::default();
    for file in &survey.files {
        let codes: Vec<usize> = file.header.counters.iter().map(|counter| all.names.code(&counter.name)).collect();
        let mut ordinal = 0;
        let flaws = scan(&file.file, &file.header, &mut |row| {
            let run = file.run_of(row, ordinal);
            ordinal += 1;
            let Some(run) = run else { return };
            if file.header.layout == Some(Layout::Long) {
                let code = all.names.code(&row.text(Col::CounterName).unwrap_or("unknown".into()));
                all.push(run, code, row.values.first().copied().flatten());
            } else {
                all.add_wide(file, row, run, &codes);
            }
        })?;
        builder.report_damage(flaws.damage(file.file.file(), super::PART));
        builder.note_all(flaws.anomaly(builder.table_name()));
    }
    let detail = "a counter was sampled in several passes with different values; the first pass is kept";
    let first = all.differing.iter().min().copied();
    builder.note("repeated_counter", Severity::Info, all.differing.len(), first, detail);

    let height = all.values.len();
    let first_pass = builder.context.process.pass;
    let of_run = |value: fn(&super::survey::Run) -> i64| -> Vec<i64> {
        all.runs.iter().map(|run| survey.runs.get(*run).map_or(0, value)).collect()
    };
    let mut passes = of_run(|run| run.pass);
    passes.iter_mut().for_each(|pass| *pass = pass.saturating_add(first_pass));
    let integers = |name: &str, values: Vec<i64>| Int64Chunked::from_vec(name.into(), values).into_column();
    let nothing = |name: &str| Column::full_null(name.into(), height, &DataType::Int64);
    let dispatches = of_run(|run| run.dispatch);
    Ok(DataFrame::new(
        height,
        vec![
            integers("pass", passes),
            integers("dispatch_id", dispatches),
            all.names.categories("counter")?,
            nothing("xcc"),
            nothing("shader_engine"),
            nothing("channel"),
            Float64Chunked::from_vec("value".into(), all.values).into_column(),
        ],
    )?)
}

/// Assembles one row per value.
pub(crate) fn read_instances(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<()> {
    let frame = instances(builder, survey)?;
    put_counter_instances(builder, frame)
}

/// Assembles one row per counter of a run.
pub(crate) fn read_counters(builder: &mut TableBuilder<'_>, survey: &Survey) -> Result<()> {
    let frame = instances(builder, survey)?;
    put_counters(builder, frame)
}

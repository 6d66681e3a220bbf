//! The table `profiler_pauses`: times at which the program had stopped the recording.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::rows_named;
use crate::columns::values::{BoolValues, FrameValues};
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, WhyEmpty, column, needed};
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::analysis::ranges::profiler_pauses::{Control, pauses};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["regions"]).if_found(),
    why_empty: WhyEmpty::AllIsWell,
    ..DerivedTable::new(&tables::idling::PROFILER_PAUSES, needs, Build::Alone(build))
};

fn needs() -> Needs {
    vec![
        ("kernels", vec!["end_ns", "gpu", "start_ns", "valid"]),
        ("memory_copies", vec!["end_ns", "gpu", "start_ns", "valid"]),
        ("regions", vec!["end_ns", "name", "start_ns", "valid"]),
        ("marks", vec!["name", "time_ns"]),
    ]
}

/// Finds the calls that stopped and started the recording.
fn build(process: &Process, tables: &Frames) -> Result<DataFrame> {
    let kernels = span_of(needed(tables, "kernels")?)?;
    let copies = span_of(needed(tables, "memory_copies")?)?;
    let span = match (kernels, copies) {
        (Some(one), Some(other)) => Some(Interval::new(one.start_ns.min(other.start_ns), one.end_ns.max(other.end_ns))),
        (one, other) => one.or(other),
    };
    let pauses = of_tables(process, needed(tables, "regions")?, needed(tables, "marks")?, span)?;
    Ok(DataFrame::new_infer_height(vec![
        column("start_ns", pauses.iter().map(|pause| pause.start_ns).collect()),
        column("end_ns", pauses.iter().map(|pause| pause.end_ns).collect()),
        column("duration_ns", pauses.iter().map(|pause| pause.length_ns()).collect()),
    ])?)
}

/// The pauses of a process whose GPU activity has a given span.
pub fn of_tables(
    process: &Process,
    regions: &DataFrame,
    marks: &DataFrame,
    span: Option<Interval>,
) -> Result<Vec<Interval>> {
    let facts = ApiClasses::builtin();
    let mut controls = Vec::new();
    let names = regions.column("name")?;
    let kinds = [(false, ApiClasses::pauses as fn(&ApiClasses, &str) -> bool), (true, ApiClasses::resumes)];
    for (resumes, is_such) in kinds {
        let rows = rows_named(names, |name| is_such(facts, name))?;
        if rows.any() {
            let calls = regions.select(["start_ns", "end_ns", "valid"])?.filter(&rows)?;
            let times = calls.valid_rows(["start_ns", "end_ns"])?;
            controls.extend(times.map(|(_, [start, end])| Control { time: Interval::new(start, end), resumes }));
        }
        let rows = BoolValues::new(&rows_named(marks.column("name")?, |name| is_such(facts, name))?);
        let times = marks.integer("time_ns")?;
        let times = times.iter().zip(rows.iter()).filter(|(_, call)| *call == Some(true));
        let marked = times.filter_map(|(time, _)| Some(Interval::new(time?, time?)));
        controls.extend(marked.map(|time| Control { time, resumes }));
    }
    let all = || controls.iter().map(|control| control.time).chain(span);
    let facts = &process.facts;
    let start_ns = facts.start_ns.or_else(|| all().map(|time| time.start_ns).min()).unwrap_or_default();
    let end_ns = facts.end_ns.or_else(|| all().map(|time| time.end_ns).max()).unwrap_or_default();
    Ok(pauses(controls, Interval::new(start_ns, end_ns), span.map(|span| span.start_ns)))
}

/// First start to last end of the valid rows whose GPU is known.
fn span_of(activities: &DataFrame) -> Result<Option<Interval>> {
    let known = activities.column("gpu")?.is_not_null() & activities.column("valid")?.bool()?.clone();
    let known = activities.select(["start_ns", "end_ns"])?.filter(&known)?;
    let (first, last) = (known.column("start_ns")?.i64()?.min(), known.column("end_ns")?.i64()?.max());
    Ok(first.zip(last).map(|(start_ns, end_ns)| Interval::new(start_ns, end_ns)))
}

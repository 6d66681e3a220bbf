//! Reasons why the result of a query is empty.

use anyhow::Result;
use polars::prelude::{DataType, col, lit};

use crate::declarations::Query;
use wavesieve_model::schema;
use wavesieve_model::schema::Table;
use wavesieve_tables::derive;
use wavesieve_tables::derive::WhyEmpty;
use wavesieve_tables::derive::health::DEAD_COUNTERS;
use wavesieve_tables::derive::repeating::UnitChoice;
use wavesieve_tables::trace::Trace;

/// The source table of hardware counters.
const COUNTERS: &str = "counters";

/// The reason if the trace lacks the subject of the query; `None` if it has the subject, so that an empty result is correct.
///
/// # Errors
/// When a table cannot be read.
pub fn why_empty(trace: &Trace, query: &Query) -> Result<Option<String>> {
    let needs = &query.declaration.needs;
    let Some(subject) = needs.first().and_then(|name| schema::table(name)) else { return Ok(None) };
    if query.declaration.kind == "health" {
        return Ok(None);
    }
    let of_segments = needs.iter().any(|table| table == "gpu_segments");
    if let Some(reason) = why_without_rows(trace, subject, of_segments)? {
        return Ok(Some(reason));
    }
    let is_of_counters = |name: &String| derive::needs(name).iter().any(|(source, _)| *source == COUNTERS);
    if needs.iter().any(|name| name == COUNTERS || is_of_counters(name)) { dead_counters(trace) } else { Ok(None) }
}

/// The counters that count as not collected, if there are any: metrics that need them have no value.
fn dead_counters(trace: &Trace) -> Result<Option<String>> {
    let found = trace.unfiltered("anomalies", &["check_id", "detail"])?;
    let check_id = col("check_id").cast(DataType::String);
    let found =
        found.filter(check_id.eq(lit(DEAD_COUNTERS))).select([col("detail").cast(DataType::String)]).collect()?;
    Ok(found.column("detail")?.str()?.iter().flatten().next().map(str::to_owned))
}

/// The reasons for the tables that are empty in the trace, whether or not a statement over them has rows.
///
/// # Errors
/// When a table cannot be read.
pub fn why_empty_of_tables<'a>(trace: &Trace, names: impl Iterator<Item = &'a str>) -> Result<Vec<String>> {
    let mut reasons = Vec::new();
    // A trace without anomalies is a good one.
    for table in names.filter(|name| *name != "anomalies").filter_map(schema::table) {
        reasons.extend(why_without_rows(trace, table, table.name == "gpu_segments")?);
    }
    Ok(reasons)
}

/// The names of the source tables that have rows, for a message.
fn filled(trace: &Trace) -> Result<String> {
    let mut filled = Vec::new();
    for table in schema::tables().iter().filter(|table| table.origin == schema::Origin::Source) {
        if is_filled(trace, table)? {
            filled.push(table.name);
        }
    }
    Ok(filled.join(", "))
}

/// Whether any process has rows of a source table.
fn is_filled(trace: &Trace, table: &'static Table) -> Result<bool> {
    for member in trace.members() {
        if trace.has_rows(member, table)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn why_without_rows(trace: &Trace, subject: &'static Table, of_segments: bool) -> Result<Option<String>> {
    let sources: Vec<&str> = match subject.origin {
        schema::Origin::OnDemand => derive::needs(subject.name).into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    };
    let source = sources.first().copied().unwrap_or(subject.name);
    let source_table = schema::table(source).filter(|table| table.origin == schema::Origin::Source);
    let is_unrecorded = source_table.map(|table| is_filled(trace, table)).transpose()? == Some(false);
    Ok(Some(if is_unrecorded {
        let filled = filled(trace)?;
        format!("{source} is empty; this trace has {filled}; see `wavesieve check` for how to collect more")
    } else if subject.origin == schema::Origin::OnDemand {
        let why = derive::declaration(subject.name).map_or(WhyEmpty::Unexplained, |declared| declared.why_empty);
        let well = why == WhyEmpty::AllIsWell && has_rows(trace, "gpu_segments", "gpu")?;
        // The query may have filtered out all rows of a table that has some.
        if well || has_rows(trace, subject.name, "process")? {
            return Ok(None);
        }
        let is_of_units = matches!(subject.name, "iterations" | "layers" | "iteration_kernels");
        match why {
            WhyEmpty::Because(_) if is_of_units && trace.choice().unit == UnitChoice::None => {
                "--unit none claims no unit of work".to_owned()
            }
            WhyEmpty::Because(reason) => reason.to_owned(),
            WhyEmpty::AllIsWell | WhyEmpty::Unexplained => format!(
                "nothing in {} makes a row of {}; this trace has {}; see `wavesieve check` for how to collect more",
                sources.join(", "),
                subject.name,
                filled(trace)?
            ),
        }
    } else if (subject.origin.is_derived() || of_segments) && !has_rows(trace, "gpu_segments", "gpu")? {
        if ran(trace, "kernels")? || ran(trace, "memory_copies")? {
            "every kernel and copy starts and ends at the same time; see `wavesieve check` for anomalies".to_owned()
        } else {
            "no valid kernel or copy ran on a GPU that is known; see `wavesieve check` for anomalies".to_owned()
        }
    } else {
        return Ok(None);
    }))
}

/// Whether a table of work has valid rows on a GPU.
fn ran(trace: &Trace, table: &'static str) -> Result<bool> {
    let frame = trace.unfiltered(table, &["valid", "gpu"])?.filter(col("valid").and(col("gpu").is_not_null()));
    Ok(frame.collect()?.height() > 0)
}

fn has_rows(trace: &Trace, table: &'static str, column: &'static str) -> Result<bool> {
    Ok(trace.unfiltered(table, &[column])?.collect()?.height() > 0)
}

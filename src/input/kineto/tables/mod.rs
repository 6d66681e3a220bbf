//! The canonical tables that are made of events.

mod args;
mod calls;
mod copies;
mod dispatches;
mod info;

pub(crate) use args::{count_args, read_args};
pub(crate) use calls::{read_marks, read_regions};
pub(crate) use copies::read_copies;
pub(crate) use dispatches::read_kernels;
pub(crate) use info::{read_kernel_symbols, read_queues, read_streams, read_threads};

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use super::capture::Capture;
use super::gathered::{Field, Gathered};
use crate::input::common::{TableBuilder, count_first};
use crate::schema::anomaly::Severity;

/// The columns of times, and the fields they are made of.
const TIMES: (&[&str], [Field; 2]) =
    (&["start_ns", "end_ns", "duration_ns", "valid", "time_ns"], [Field::Start, Field::End]);

/// The fields that wanted columns need.
fn fields(builder: &TableBuilder<'_>, columns: &[(&[&str], &[Field])]) -> Vec<Field> {
    let wanted = columns.iter().filter(|(names, _)| builder.wants(names));
    let fields: BTreeSet<Field> = wanted.flat_map(|(_, fields)| fields.iter().copied()).collect();
    fields.into_iter().collect()
}

/// Adds the ids of calls and of the work they launched. An id that calls of several processes have is that of none of them.
fn put_correlation(builder: &mut TableBuilder<'_>, capture: &Capture, rows: &Gathered) -> Result<()> {
    if !builder.wants(&["correlation_id"]) {
        return Ok(());
    }
    let ambiguous = capture.ambiguous()?;
    let ids = rows.get(Field::Correlation);
    let is_ambiguous = |id: Option<i64>| id.is_some_and(|id| ambiguous.contains(&id));
    let (count, first) = count_first(ids.iter().map(is_ambiguous), &rows.get(Field::Number));
    let detail = "calls of several processes have the same correlation id; what they launched is tied to none of them";
    builder.note("ambiguous_correlation", Severity::Warning, count, first, detail);
    let own: Int64Chunked =
        ids.iter().map(|id| id.filter(|id| *id != 0 && !ambiguous.contains(id))).collect_ca("".into());
    builder.put("correlation_id", own.into_series());
    Ok(())
}

/// Adds the times of work of the GPU. What took longer than the recording itself cannot be true.
fn put_gpu_times(builder: &mut TableBuilder<'_>, rows: &Gathered) {
    let (starts, ends) = (rows.get(Field::Start), rows.get(Field::End));
    builder.put_times(&starts, &ends);
    let facts = &builder.context.process.facts;
    let recorded = facts.start_ns.zip(facts.end_ns).map(|(start, end)| end.saturating_sub(start));
    let Some(longest) = recorded.filter(|recorded| *recorded > 0 && builder.wants(&["valid"])) else { return };
    let bounds = crate::schema::validity::Validity::from_facts(facts);
    let both = || starts.iter().zip(ends.iter()).map(|(start, end)| (start.unwrap_or(0), end.unwrap_or(0)));
    let is_too_long = |(start, end): (i64, i64)| end.saturating_sub(start) > longest;
    let (count, first) = count_first(both().map(is_too_long), &rows.get(Field::Number));
    let valid: BooleanChunked =
        both().map(|(start, end)| Some(bounds.holds(start, end) && !is_too_long((start, end)))).collect_ca("".into());
    builder.put("valid", valid.into_series());
    let detail =
        "work of the GPU is longer than the whole recording, as a duration that overflowed; excluded from GPU time";
    builder.note("overflowed_duration", Severity::Warning, count, first, detail);
}

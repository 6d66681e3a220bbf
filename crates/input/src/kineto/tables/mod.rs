//! The canonical tables that are made of events.

mod allocations;
mod args;
mod calls;
mod copies;
mod dispatches;
mod info;

pub(crate) use allocations::read_allocations;
pub(crate) use args::{count_args, read_args};
pub(crate) use calls::read_marks;
pub use calls::read_regions;
pub(crate) use copies::read_copies;
pub(crate) use dispatches::read_kernels;
pub(crate) use info::{read_kernel_symbols, read_queues, read_streams, read_threads};

use std::collections::BTreeSet;

use anyhow::Result;
use fnv::FnvHashMap;
use polars::prelude::*;

use super::capture::Capture;
use super::gathered::{Field, Gathered};
use super::kinds::{HIP, KINDS, Role};
use crate::common::{TableBuilder, ValidRows, count_first};
use wavesieve_model::schema::anomaly::Severity;

/// The columns of times, and the fields they are made of.
const TIMES: (&[&str], [Field; 2]) =
    (&["start_ns", "end_ns", "duration_ns", "valid", "time_ns"], [Field::Start, Field::End]);

/// Columns of times that depend on the ends.
const ENDS: &[&str] = &["end_ns", "duration_ns", "valid"];

/// The fields that wanted columns need.
fn fields(builder: &TableBuilder<'_>, columns: &[(&[&str], &[Field])]) -> Vec<Field> {
    let wanted = columns.iter().filter(|(names, _)| builder.wants(names));
    let fields: BTreeSet<Field> = wanted.flat_map(|(_, fields)| fields.iter().copied()).collect();
    fields.into_iter().collect()
}

/// Adds the ids of calls and of the work they launched. An id that calls of several processes have is that of none of them.
fn put_correlation(builder: &mut TableBuilder<'_>, capture: &Capture, rows: &Gathered, role: Role) -> Result<()> {
    note_oddities(builder, rows);
    if !builder.wants(&["correlation_id"]) {
        return Ok(());
    }
    let (numbers, externals) = (rows.get(Field::Number), rows.get(Field::External));
    let is_other = others_on_streams(capture, rows, role)?;
    let (count, first) = count_first(is_other.iter().copied(), &numbers);
    let detail =
        "kernels have the correlation id of a launch whose kernel runs on another stream; their own launch is unknown";
    builder.note("shared_correlation", Severity::Warning, count, first, detail);
    let ambiguous = capture.ambiguous()?;
    let ids = rows.get(Field::Correlation);
    let is_ambiguous = |id: Option<i64>| id.is_some_and(|id| ambiguous.contains(&id));
    let (count, first) = count_first(ids.iter().map(is_ambiguous), &rows.get(Field::Number));
    let detail = "calls of several processes have the same correlation id; what they launched is tied to none of them";
    builder.note("ambiguous_correlation", Severity::Warning, count, first, detail);
    let own = ids.iter().map(|id| id.filter(|id| *id != 0 && !ambiguous.contains(id)));
    let own: Vec<Option<i64>> = own.zip(&is_other).map(|(id, is_other)| id.filter(|_| !is_other)).collect();
    let by_external = |row: usize, own: Option<i64>| {
        let is_call =
            rows.kinds.get(row).and_then(|kind| KINDS.get(usize::from(*kind))).is_some_and(|kind| kind.domain == HIP);
        own.is_none()
            && ids.get(row).is_none_or(|id| id == 0)
            && (is_call || role != Role::Region)
            && externals.get(row).is_some_and(|id| id > 0)
    };
    let without: Vec<bool> = own.iter().enumerate().map(|(row, own)| by_external(row, *own)).collect();
    let (count, first) = count_first(without.iter().copied(), &numbers);
    if count > 0 {
        let ties = capture.ties()?;
        let own: Int64Chunked = own
            .iter()
            .zip(numbers.iter())
            .map(|(own, number)| own.or_else(|| ties.id(role, number)))
            .collect_ca("".into());
        builder.put("correlation_id", own.into_series());
        if role != Role::Region {
            let detail = "no correlation ids; tied by External id to operators, and to a launch if it is the only one of its operator";
            builder.note("tied_by_external_id", Severity::Info, count, first, detail);
        }
    } else {
        let own: Int64Chunked = own.into_iter().collect_ca("".into());
        builder.put("correlation_id", own.into_series());
    }
    Ok(())
}

/// Reports what no parser of JSON takes.
fn note_oddities(builder: &mut TableBuilder<'_>, rows: &Gathered) {
    let oddities = rows.oddities;
    for (check_id, count, detail) in [
        (
            "bare_words",
            oddities.bare_words,
            "arguments are words that JSON does not have, as NaN or N/A; kept as texts",
        ),
        ("text_times", oddities.text_times, "times are written as texts; read as numbers"),
        ("repeated_times", oddities.repeated_times, "events have a time or duration twice; the last one counts"),
        ("lone_surrogates", oddities.lone_surrogates, "names have half of a letter, shown as U+FFFD"),
    ] {
        builder.note(check_id, Severity::Info, usize::try_from(count).unwrap_or(usize::MAX), None, detail);
    }
}

/// Which kernels have the correlation id of a launch whose first kernel runs on another stream of their GPU: a launch that is not one of
/// a graph starts work on one stream.
fn others_on_streams(capture: &Capture, rows: &Gathered, role: Role) -> Result<Vec<bool>> {
    let mut is_other = vec![false; rows.height];
    if role != Role::Kernel {
        return Ok(is_other);
    }
    let columns = [Field::Correlation, Field::Device, Field::Stream, Field::Start].map(|field| rows.get(field));
    let each = || {
        (0..rows.height).filter_map(|row| {
            let [id, device, stream, start] = columns.each_ref().map(|column| column.get(row));
            Some((row, (id.filter(|id| *id != 0)?, device?), stream?, start?))
        })
    };
    let mut first: FnvHashMap<(i64, i64), (i64, i64)> = FnvHashMap::default();
    let mut several: BTreeSet<i64> = BTreeSet::new();
    for (_, launch, stream, start) in each() {
        let known = first.entry(launch).or_insert((start, stream));
        if known.1 != stream {
            several.insert(launch.0);
        }
        *known = (*known).min((start, stream));
    }
    if several.is_empty() {
        return Ok(is_other);
    }
    let graphs = capture.launches()?.of_graphs(&several);
    for (row, launch, stream, _) in each().filter(|(_, (id, _), _, _)| several.contains(id) && !graphs.contains(id)) {
        if let (Some(slot), Some((_, first))) = (is_other.get_mut(row), first.get(&launch)) {
            *slot = *first != stream;
        }
    }
    Ok(is_other)
}

/// Adds the times of work of the GPU. What took longer than the recording itself cannot be true, and neither can what runs over later
/// work of its stream: that is cut where the next begins.
fn put_gpu_times(builder: &mut TableBuilder<'_>, capture: &Capture, rows: &Gathered, role: Role) -> Result<()> {
    let (starts, mut ends) = (rows.get(Field::Start), rows.get(Field::End));
    let overruns = if builder.wants(ENDS) { Some(capture.overruns()?) } else { None };
    if let Some(overruns) = overruns.filter(|overruns| !overruns.is_empty()) {
        let numbers = rows.get(Field::Number);
        let cut: Vec<Option<i64>> = numbers.iter().map(|number| overruns.end_of(role, number)).collect();
        ends = cut.iter().zip(ends.iter()).map(|(cut, end)| cut.or(end)).collect_ca("".into());
        let (count, first) = count_first(cut.iter().map(Option::is_some), &numbers);
        let detail =
            "durations run over later work of the same stream, so they cannot be true; cut where the next begins";
        builder.note("overrun_duration", Severity::Warning, count, first, detail);
    }
    builder.put_times(&starts, &ends);
    let facts = &builder.context.process.facts;
    let recorded = facts.start_ns.zip(facts.end_ns).map(|(start, end)| end.saturating_sub(start));
    let Some(longest) = recorded.filter(|recorded| *recorded > 0 && builder.wants(&["valid"])) else { return Ok(()) };
    let bounds = wavesieve_model::schema::validity::Validity::from_facts(facts);
    let both = || starts.iter().zip(ends.iter()).map(|(start, end)| (start.unwrap_or(0), end.unwrap_or(0)));
    let is_too_long = |(start, end): (i64, i64)| end.saturating_sub(start) > longest;
    let (count, first) = count_first(both().map(is_too_long), &rows.get(Field::Number));
    let mut held = ValidRows::new(bounds, starts.len());
    both().for_each(|(start, end)| held.push(start, end));
    let held = held.finish();
    let valid: BooleanChunked =
        both().zip(held.iter()).map(|(times, holds)| Some(holds && !is_too_long(times))).collect_ca("".into());
    builder.put("valid", valid.into_series());
    let detail =
        "work of the GPU is longer than the whole recording, as a duration that overflowed; excluded from GPU time";
    builder.note("overflowed_duration", Severity::Warning, count, first, detail);
    Ok(())
}

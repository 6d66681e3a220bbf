//! The canonical tables that are made of events.

pub(super) mod allocations;
pub(super) mod args;
pub(super) mod calls;
pub(super) mod copies;
pub(super) mod dispatches;
pub(super) mod info;
mod inputs;

use std::collections::BTreeSet;

use anyhow::Result;
use fnv::FnvHashMap;
use polars::prelude::*;

use super::capture::Capture;
use super::gathered::{BLOCK, Field, GRID, Gathered, Keep, Wanted};
use super::kinds::{HIP, Role, has_domain};
use crate::common::{TableBuilder, ValidRows, count_first};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_model::schema::validity::Validity;
use wavesieve_tables::columns::values::I64Values;

/// Columns of times that depend on the ends.
const ENDS: &[&str] = &["end_ns", "duration_ns", "valid"];
const SIZES: &[&str] = &["workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z"];
/// Columns of places, and columns of threads and sizes that may come from the launching call.
const PLACES: &[&str] = &["direction", "src_agent_id", "dst_agent_id", "agent_id", "gpu", "peer_gpu", "device"];
const OF_CALLS: &[&str] = &["tid", "bytes", "lds_bytes"];

/// Columns, and the fields that they are made of.
type Needs = &'static [(&'static [&'static str], &'static [Field])];
const NEEDS: Needs = &[
    (&["start_ns", "end_ns", "duration_ns", "valid", "time_ns"], &[Field::Start, Field::End]),
    (&["external_id"], &[Field::External]),
    (&["correlation_id"], &[Field::Correlation, Field::External]),
];
const NEEDS_OF_HOST: Needs = &[
    (&["tid"], &[Field::Tid]),
    (&["operation", "bytes"], &[Field::Bytes]),
    (&["address"], &[Field::Address]),
    (PLACES, &[Field::DeviceType, Field::DeviceId]),
    (&["live_bytes"], &[Field::Bytes, Field::Allocated, Field::Address, Field::DeviceType, Field::DeviceId]),
];
const NEEDS_OF_GPU: Needs = &[
    (&["correlation_id"], &[Field::Device, Field::Stream, Field::Start]),
    (&["inputs"], &[Field::Correlation, Field::External]),
    (&["queue_id"], &[Field::Queue]),
    (&["stream_id"], &[Field::Stream]),
    (PLACES, &[Field::Device, Field::FromDevice, Field::ToDevice]),
    (OF_CALLS, &[Field::Correlation]),
    (&["bytes"], &[Field::Bytes]),
    (&["lds_bytes"], &[Field::SharedMemory]),
    (SIZES, &[Field::Correlation, Field::GridX, Field::GridY, Field::GridZ]),
    (SIZES, &[Field::BlockX, Field::BlockY, Field::BlockZ]),
];

/// Reads the events of a role, with the fields that the wanted columns need, and fixes the number of rows.
fn gather(builder: &mut TableBuilder<'_>, capture: &Capture, role: Role, keep: Keep, names: bool) -> Result<Gathered> {
    let own = if matches!(role, Role::Kernel | Role::Copy) { NEEDS_OF_GPU } else { NEEDS_OF_HOST };
    let wanted = NEEDS.iter().chain(own).filter(|(columns, _)| builder.wants(columns));
    let needed: BTreeSet<Field> = wanted.flat_map(|(_, fields)| fields.iter().copied()).collect();
    let fields: Vec<Field> = needed.into_iter().chain([Field::Number]).collect();
    let rows = capture.gather(&Wanted { role, keep, fields: &fields, names })?;
    builder.set_height(rows.height);
    Ok(rows)
}

/// A field of work, otherwise of the calls that launched it. Grid and block sizes of 0 count as unknown.
fn or_of_call(capture: &Capture, rows: &Gathered, field: Field) -> Result<Vec<Option<i64>>> {
    let is_size = GRID.contains(&field) || BLOCK.contains(&field);
    let own = I64Values::new(&rows.get(field)).into_rows().map(|own| own.filter(|own| !is_size || *own != 0));
    let own: Vec<Option<i64>> = own.collect();
    if own.iter().all(Option::is_some) {
        return Ok(own);
    }
    let ids = rows.get(Field::Correlation);
    let of_calls = capture.launches()?.of(field, ids.iter());
    Ok(own.into_iter().zip(of_calls).map(|(own, of_call)| own.or(of_call)).collect())
}

/// Adds columns of work whose values may be known only for the calls that launched it.
fn put_of_calls(
    builder: &mut TableBuilder<'_>,
    capture: &Capture,
    rows: &Gathered,
    columns: [(&'static str, Field); 2],
) -> Result<()> {
    for (name, field) in columns {
        if builder.wants(&[name]) {
            builder.put_integers(name, or_of_call(capture, rows, field)?);
        }
    }
    Ok(())
}

/// Adds the correlation ids of calls and of the work they launched. An id that calls of several processes share is left out.
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
        let is_call = rows.kinds.get(row).is_some_and(|kind| has_domain(*kind, HIP));
        own.is_none()
            && ids.get(row).is_none_or(|id| id == 0)
            && (is_call || role != Role::Region)
            && externals.get(row).is_some_and(|id| id > 0)
    };
    let without: Vec<bool> = own.iter().enumerate().map(|(row, own)| by_external(row, *own)).collect();
    let (count, first) = count_first(without.iter().copied(), &numbers);
    let ties = if count > 0 { Some(capture.ties()?) } else { None };
    let own = own.iter().zip(numbers.iter()).map(|(own, number)| own.or_else(|| ties?.id(role, number)));
    builder.put_integers("correlation_id", own);
    if role != Role::Region {
        let detail = "no correlation ids; tied by External id to operators, and to a launch if it is the only one of its operator";
        builder.note("tied_by_external_id", Severity::Info, count, first, detail);
    }
    Ok(())
}

/// Reports forms that JSON parsers reject or read differently.
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

/// Marks kernels with the correlation id of a launch whose first kernel runs on another stream of their GPU. A launch starts work on only
/// one stream, unless it launches a graph.
fn others_on_streams(capture: &Capture, rows: &Gathered, role: Role) -> Result<Vec<bool>> {
    let mut is_other = vec![false; rows.height];
    if role != Role::Kernel {
        return Ok(is_other);
    }
    let each = || {
        let all = rows.rows([Field::Correlation, Field::Device, Field::Stream, Field::Start]);
        all.enumerate().filter_map(|(row, [id, device, stream, start])| {
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

/// Adds the times of GPU work. Work that is longer than the recording is not valid. Work that runs over later work of its stream is cut at
/// the start of the next.
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
    let bounds = Validity::from_facts(facts);
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

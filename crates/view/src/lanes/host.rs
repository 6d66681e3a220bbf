//! Calls, ranges and operators of the threads of a process.

use std::collections::BTreeMap;

use anyhow::Result;
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_tables::columns::frames::values_by_text;
use wavesieve_tables::trace::{Trace, TraceProcess};

use super::counters;
use super::event::{Event, NO_NAME};
use super::frames::{Texts, flags, integers, read};
use super::gpu::notes;
use super::part::{Part, StoredLane};
use super::places::{Placing, rows};
use super::row::Row;

/// Kinds of lanes of a thread in the order of display, with their labels and placing.
const LANES: [(&str, &str); 3] =
    [("ranges", "ranges of thread"), ("operators", "operators of thread"), ("calls", "thread")];
const RANGES: usize = 0;
const OPERATORS: usize = 1;
const CALLS: usize = 2;

/// Kinds of slices, by index.
const KINDS: [&str; 5] = ["api", "sync", "range", "operator", "python"];

/// Lane and kind of regions by their domain.
fn place_of(domain: &str) -> (usize, u16) {
    match domain {
        "python" => (OPERATORS, 4),
        "torch" => (OPERATORS, 3),
        other if ApiClasses::builtin().annotates(other) => (RANGES, 2),
        _ => (CALLS, 0),
    }
}

/// Reads the lanes of all threads of a process.
pub fn part(trace: &Trace, member: &TraceProcess, shift_ns: i64) -> Result<Part> {
    let columns = ["region_id", "domain", "name", "message", "tid", "correlation_id", "start_ns", "end_ns", "valid"];
    let mut names = Texts::new(&["several"]);
    let kinds = KINDS.map(str::to_owned).to_vec();
    let counters = counters::read(trace, member, shift_ns)?;
    let have_gpus_lanes = counters::has_work(trace, member);
    let Some(frame) = read(trace, member, "regions", &columns)? else {
        let mut part = Part { names: names.into_list(), kinds, ..Part::default() };
        part.add_counters(counters, true, have_gpus_lanes);
        return Ok(part);
    };
    let own = names.of_column(&frame, "name", str::to_owned)?;
    let messages = names.of_texts(&frame, "message")?;
    let waits = values_by_text(frame.column("name")?, |name| ApiClasses::builtin().synchronizes(name))?;
    let places = values_by_text(frame.column("domain")?, place_of)?;
    let domains = names.of_column(&frame, "domain", str::to_owned)?;
    let (ids, tids) = (integers(&frame, "region_id")?, integers(&frame, "tid")?);
    let correlations = integers(&frame, "correlation_id")?;
    let (starts, ends, valid) = (integers(&frame, "start_ns")?, integers(&frame, "end_ns")?, flags(&frame, "valid")?);
    let unknown = names.index("unknown");
    let mut lanes: BTreeMap<(i64, usize), Vec<Event>> = BTreeMap::new();
    let (mut links, mut invalid) = (Vec::new(), 0);
    for (row, valid) in valid.iter().enumerate() {
        let times = starts.get(row).zip(ends.get(row)).filter(|(start, end)| valid == Some(true) && start <= end);
        let (Some((start_ns, end_ns)), Some(id)) = (times, ids.get(row)) else {
            invalid += 1;
            continue;
        };
        let (lane, mut kind) = places.get(row).copied().flatten().unwrap_or((CALLS, 0));
        if lane == CALLS && waits.get(row).copied().flatten() == Some(true) {
            kind = 1;
        }
        let at = |list: &[Option<u32>]| list.get(row).copied().flatten();
        // Markers have their text as a message, and the function as a name.
        let name = if lane == RANGES { at(&messages).or(at(&own)) } else { at(&own) };
        let times = (start_ns.saturating_add(shift_ns), end_ns.saturating_add(shift_ns));
        let event = Event::one(times, id, name.unwrap_or(unknown), kind, at(&domains).unwrap_or(NO_NAME));
        lanes.entry((tids.get(row).unwrap_or(-1), lane)).or_default().push(event);
        if lane == CALLS {
            links.extend(correlations.get(row).map(|correlation| (correlation, id)));
        }
    }
    links.sort_unstable();
    let mut omitted = 0;
    let stored = |((tid, lane), events): ((i64, usize), Vec<Event>)| {
        let (kind, label) = LANES.get(lane).copied().unwrap_or(("calls", "thread"));
        let thread = if tid < 0 { "unknown".to_owned() } else { tid.to_string() };
        let (rows, left) = rows(events, Placing::Nested);
        omitted += left;
        let rows = rows.into_iter().map(Row::new).collect();
        StoredLane { gpu: None, id: format!("{kind}/{thread}"), kind, label: format!("{label} {thread}"), rows }
    };
    let lanes = lanes.into_iter().map(stored).collect();
    let notes = notes("of the host", invalid, omitted);
    let mut part = Part { lanes, names: names.into_list(), kinds, links, notes, ..Part::default() };
    part.add_counters(counters, true, have_gpus_lanes);
    Ok(part)
}

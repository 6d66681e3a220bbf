//! Lanes of the host: ranges, operators and calls of threads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::columns::{Extent, integers, rows_in, texts, times};
use super::lanes::Legend;
use super::slices::{Event, EventLane};
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::analysis::ranges::innermost::{Range, innermost};
use wavesieve_model::analysis::ranges::markers::{is_range, is_range_category};
use wavesieve_tables::columns::requests::ProcessTables;

/// Maximum number of threads with lanes.
const MAX_THREADS: usize = 8;
/// Place of lanes of each kind, and the name of slices that sum up several events.
const LANES: [(&str, &str, &str); 3] = [
    ("ranges", "several ranges", "ranges of thread"),
    ("operators", "several operators", "operators of thread"),
    ("calls", "several calls", "thread"),
];

/// Innermost ranges and operators by thread.
#[derive(Default)]
pub(super) struct Innermost(BTreeMap<i64, Vec<(Interval, usize)>>);

impl Innermost {
    /// Number of the name of the innermost range of a thread at a time.
    pub(super) fn at(&self, tid: i64, time_ns: i64) -> Option<usize> {
        let parts = self.0.get(&tid)?;
        let next = parts.partition_point(|(part, _)| part.start_ns <= time_ns);
        let (part, name) = parts.get(next.checked_sub(1)?)?;
        (part.end_ns > time_ns).then_some(*name)
    }
}

/// Lanes of threads.
#[derive(Default)]
pub(super) struct HostLanes {
    /// The lanes: ranges, operators, then calls.
    pub lanes: Vec<EventLane>,
    /// Ranges and operators around launches.
    pub innermost: Innermost,
    /// Sentences about what is left out.
    pub notes: Vec<String>,
}

/// The kind of a region.
#[derive(Clone, Copy)]
struct Class {
    /// Place in [`LANES`].
    lane: usize,
    kind: &'static str,
}

fn class(domain: &str, category: &str, name: &str) -> Option<Class> {
    let classes = ApiClasses::builtin();
    Some(match domain {
        "torch" => Class { lane: 1, kind: "operator" },
        "python" => Class { lane: 1, kind: "python" },
        "host" => Class { lane: 0, kind: "range" },
        "marker" if is_range(name) && is_range_category(category) => Class { lane: 0, kind: "range" },
        "marker" => return None,
        _ if classes.waits(classes.class(name)) => Class { lane: 2, kind: "sync" },
        _ => Class { lane: 2, kind: "api" },
    })
}

/// The lanes of the busiest threads in a part of the run. Ranges are read from `earliest_ns`, the first launch of work in it.
pub(super) fn host_lanes(
    tables: &ProcessTables,
    time: Extent,
    earliest_ns: i64,
    legend: &mut Legend<'_, '_>,
) -> Result<HostLanes> {
    let wider = Extent { start_ns: earliest_ns.min(time.start_ns), end_ns: time.end_ns };
    let frame = rows_in(tables, "regions", wider)?;
    if frame.height() == 0 {
        return Ok(HostLanes::default());
    }
    let (ids, threads) = (integers(&frame, "region_id")?, integers(&frame, "tid")?);
    let (domains, categories) = (texts(&frame, "domain")?, texts(&frame, "category")?);
    let (names, messages) = (texts(&frame, "name")?, texts(&frame, "message")?);
    let mut lanes: BTreeMap<(usize, i64), Vec<Event>> = BTreeMap::new();
    let mut ranges: BTreeMap<i64, Vec<Range>> = BTreeMap::new();
    let mut range_names: BTreeMap<u32, usize> = BTreeMap::new();
    for (row, at) in times(&frame)? {
        let name = names.get(row).unwrap_or_default();
        let (domain, category) = (domains.get(row).unwrap_or_default(), categories.get(row).unwrap_or_default());
        let Some(Class { lane, kind }) = class(domain, category, name) else { continue };
        let shown = messages.get(row).filter(|text| domain == "marker" && !text.is_empty()).unwrap_or(name);
        let (tid, number) = (threads.get(row).unwrap_or(-1), legend.names.index(shown));
        if matches!(domain, "marker" | "torch" | "host") {
            let place = u32::try_from(row).unwrap_or(u32::MAX);
            range_names.insert(place, number);
            ranges.entry(tid).or_default().push(Range { time: Interval::new(at.start_ns, at.end_ns), row: place });
        }
        if time.shows(at.start_ns, at.end_ns) {
            let kind = legend.kinds.index(kind);
            let event = Event::new((at.start_ns, at.end_ns), number, kind, ids.get(row).unwrap_or(-1));
            lanes.entry((lane, tid)).or_default().push(event);
        }
    }
    let named = |part: Range| Some((part.time, *range_names.get(&part.row)?));
    let innermost = ranges
        .into_iter()
        .map(|(tid, ranges)| (tid, innermost(ranges).into_iter().filter_map(named).collect()))
        .collect();
    let (shown, notes) = busiest(&lanes);
    let lane = |((place, tid), events): ((usize, i64), Vec<Event>)| {
        let (kind, several, word) = *LANES.get(place)?;
        let thread = if tid < 0 { "unknown".to_owned() } else { tid.to_string() };
        Some(EventLane {
            id: format!("{}/{kind}/{thread}", legend.host_group),
            group: legend.host_group.clone(),
            kind,
            label: format!("{word} {thread}"),
            events,
            several: legend.names.index(several),
            ..EventLane::default()
        })
    };
    let lanes = lanes.into_iter().filter(|((_, tid), _)| shown.contains(tid)).filter_map(lane).collect();
    Ok(HostLanes { lanes, innermost: Innermost(innermost), notes })
}

/// The threads with most events, and a note about the others.
fn busiest(lanes: &BTreeMap<(usize, i64), Vec<Event>>) -> (BTreeSet<i64>, Vec<String>) {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for ((_, tid), events) in lanes {
        *counts.entry(*tid).or_default() += events.len();
    }
    let mut order: Vec<(Reverse<usize>, i64)> = counts.iter().map(|(tid, count)| (Reverse(*count), *tid)).collect();
    order.sort_unstable();
    let left_out = order.len().saturating_sub(MAX_THREADS);
    let mut notes = Vec::new();
    if left_out > 0 {
        let events: usize = order.iter().skip(MAX_THREADS).map(|(count, _)| count.0).sum();
        notes.push(format!("{left_out} threads with {events} calls and ranges are left out."));
    }
    (order.into_iter().take(MAX_THREADS).map(|(_, tid)| tid).collect(), notes)
}

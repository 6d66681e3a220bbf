//! Kernels, copies and the calls that launch or wait for them as a graph of causes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use itertools::izip;
use polars::prelude::*;

use crate::columns::frames::{rows_named, values_by_text};
use crate::columns::values::{BoolValues, FrameValues};
use crate::derive::launching::launching_calls::{CALL_COLUMNS, LaunchingCalls, MARK_COLUMNS};
use crate::derive::{Frames, Needs, needed};
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_model::analysis::critical_path::{Call, Graph, NONE, Waits, Work};
use wavesieve_model::analysis::numbering::lane_ids::IdInterner;

/// Maximum number of work items or calls that can be numbered.
const MAX: usize = 1 << 30;
/// Ends the names of events that wait, as in `HIP_EVENT_WAIT`.
const WAIT: &str = "WAIT";

/// The graph of a process, and the meaning of its places.
pub(crate) struct PathGraph {
    /// Work and calls.
    pub graph: Graph,
    /// By place of work: its row in `kernels`, or in `memory_copies`, counted after all kernels.
    pub rows: Vec<u32>,
    /// By place of a call: its number among `calls`.
    pub numbers: Vec<u32>,
    /// The threads by their numbers in the graph.
    pub threads: Vec<Option<i64>>,
    /// All calls that could launch something.
    pub calls: LaunchingCalls,
}

/// The source columns that it needs.
pub fn needs() -> Needs {
    let of_both = ["correlation_id", "end_ns", "gpu", "start_ns", "stream_id", "valid"];
    vec![
        ("kernels", [&of_both[..], &["dispatch_id", "queue_id"]].concat()),
        ("memory_copies", [&of_both[..], &["copy_id"]].concat()),
        ("regions", CALL_COLUMNS.to_vec()),
        ("marks", MARK_COLUMNS.to_vec()),
        ("hip_events", vec!["operation", "gpu", "queue_id", "source_queue_id", "stream_id", "end_ns", "valid"]),
    ]
}

/// Valid work as it is read.
struct WorkItem {
    start_ns: i64,
    end_ns: i64,
    id: i64,
    row: u32,
    lane: u32,
    call: u32,
}

impl PathGraph {
    /// The graph of the valid kernels and copies.
    pub(crate) fn from_frames(tables: &Frames) -> Result<Self> {
        let [kernels, copies, regions] = ["kernels", "memory_copies", "regions"].map(|name| needed(tables, name));
        let (kernels, copies, regions) = (kernels?, copies?, regions?);
        let calls = LaunchingCalls::from_frames(tables)?;
        let rows = kernels.height().saturating_add(copies.height());
        (rows.max(calls.numbers()) < MAX).then_some(()).context("more kernels, copies or calls than can be counted")?;

        let mut lanes = Lanes::new(kernels)?;
        let mut found = Vec::with_capacity(rows);
        add_work(kernels, "dispatch_id", 0, &calls, &mut lanes, &mut found)?;
        add_work(copies, "copy_id", kernels.height(), &calls, &mut lanes, &mut found)?;
        let order =
            |work: &WorkItem| (work.start_ns, work.end_ns, work.row as usize >= kernels.height(), work.id, work.row);
        if !found.is_sorted_by_key(order) {
            found.sort_unstable_by_key(order);
        }
        let recorded = event_waits(needed(tables, "hip_events")?, kernels, &found, &mut lanes)?;
        let mut steps = Steps::new(regions, &calls, found.iter().map(|work| work.call))?;
        let work = found.iter().map(|work| Work {
            start_ns: work.start_ns,
            end_ns: work.end_ns,
            lane: work.lane,
            call: steps.places.get(work.call as usize).copied().unwrap_or(NONE),
        });
        let work = work.collect();
        let rows = found.into_iter().map(|work| work.row).collect();
        steps.places = Vec::new();
        Ok(Self {
            graph: Graph::new(work, steps.calls, &lanes.devices(), recorded),
            rows,
            numbers: steps.numbers,
            threads: steps.threads,
            calls,
        })
    }
}

/// Pairs of work items connected by a recorded wait of a stream for another queue: the next item in the stream after the wait, and the item
/// that last ended in that queue before it.
fn event_waits(
    events: &DataFrame,
    kernels: &DataFrame,
    found: &[WorkItem],
    lanes: &mut Lanes,
) -> Result<Vec<(u32, u32)>> {
    if events.height() == 0 {
        return Ok(Vec::new());
    }
    let queues = kernels.integer("queue_id")?;
    let mut of_lanes: BTreeMap<u32, Vec<(i64, u32)>> = BTreeMap::new();
    let mut of_queues: BTreeMap<i64, Vec<(i64, u32)>> = BTreeMap::new();
    for (place, work) in (0_u32..).zip(found) {
        of_lanes.entry(work.lane).or_default().push((work.start_ns, place));
        if let Some(queue) = queues.get(work.row as usize) {
            of_queues.entry(queue).or_default().push((work.end_ns, place));
        }
    }
    of_queues.values_mut().for_each(|ended| ended.sort_unstable());
    let [gpus, queues, streams, sources, ends] =
        events.integers(["gpu", "queue_id", "stream_id", "source_queue_id", "end_ns"])?;
    let valid = events.truths("valid")?;
    let waits = BoolValues::new(&rows_named(events.column("operation")?, |name| name.ends_with(WAIT))?);
    let mut recorded = Vec::new();
    for (row, (valid, waits)) in valid.iter().zip(waits.iter()).enumerate() {
        let queue = queues.get(row);
        let source = sources.get(row).filter(|source| Some(*source) != queue);
        let (Some(source), Some(end_ns), Some(true), Some(true)) = (source, ends.get(row), valid, waits) else {
            continue;
        };
        let lane = lanes.of_work(gpus.get(row), streams.get(row), queue);
        let next = of_lanes
            .get(&lane)
            .filter(|_| lane != NONE)
            .and_then(|started| started.get(started.partition_point(|(start_ns, _)| *start_ns < end_ns)));
        let before = of_queues
            .get(&source)
            .and_then(|ended| ended.get(ended.partition_point(|(ended_ns, _)| *ended_ns <= end_ns).checked_sub(1)?));
        recorded.extend(next.zip(before).map(|((_, next), (_, before))| (*next, *before)));
    }
    Ok(recorded)
}

/// A GPU with one of its streams or queues.
type Lane = (Option<i64>, bool, i64);

/// The streams and queues whose work runs in order.
struct Lanes {
    by_stream: bool,
    numbers: IdInterner<Lane>,
}

impl Lanes {
    /// Uses streams if they are recorded. If all kernels of several queues name one stream, streams are not recorded.
    fn new(kernels: &DataFrame) -> Result<Self> {
        let distinct = |name: &str| -> Result<usize> {
            let mut known = BTreeSet::new();
            let mut last = None;
            for value in kernels.integer(name)?.iter().flatten() {
                if last.replace(value) != Some(value) {
                    known.insert(value);
                }
            }
            Ok(known.len())
        };
        let (streams, queues) = (distinct("stream_id")?, distinct("queue_id")?);
        Ok(Self { by_stream: streams > 1 || streams == 1 && queues < 2, numbers: IdInterner::default() })
    }

    /// Dense numbers of the GPUs by lane.
    fn devices(&self) -> Vec<u32> {
        let gpus: BTreeSet<Option<i64>> = self.numbers.known().keys().map(|(gpu, _, _)| *gpu).collect();
        let mut devices = vec![0; self.numbers.known().len()];
        for ((gpu, _, _), lane) in self.numbers.known() {
            if let Some(slot) = devices.get_mut(*lane as usize) {
                *slot = gpus.iter().position(|other| other == gpu).unwrap_or_default() as u32;
            }
        }
        devices
    }

    fn of_work(&mut self, gpu: Option<i64>, stream: Option<i64>, queue: Option<i64>) -> u32 {
        let stream = stream.filter(|_| self.by_stream);
        let Some(id) = stream.or(queue) else { return NONE };
        self.numbers.intern((gpu, stream.is_some(), id))
    }
}

fn add_work(
    frame: &DataFrame,
    key: &str,
    first_row: usize,
    calls: &LaunchingCalls,
    lanes: &mut Lanes,
    found: &mut Vec<WorkItem>,
) -> Result<()> {
    let [keys, gpus, streams, ids] = frame.integers([key, "gpu", "stream_id", "correlation_id"])?;
    let queues = if frame.column("queue_id").is_ok() { Some(frame.integer("queue_id")?) } else { None };
    let rows = frame.valid_rows(["start_ns", "end_ns"])?;
    for (row, [start_ns, end_ns]) in rows.filter(|(_, [start_ns, end_ns])| start_ns <= end_ns) {
        let row = row as usize;
        found.push(WorkItem {
            start_ns,
            end_ns,
            id: keys.get(row).unwrap_or_default(),
            row: (first_row + row) as u32,
            lane: lanes.of_work(gpus.get(row), streams.get(row), queues.as_ref().and_then(|queues| queues.get(row))),
            call: calls.get(ids.get(row)).map_or(NONE, |call| call.row),
        });
    }
    Ok(())
}

/// The calls that launch or wait; only the outermost of nested calls.
struct Steps {
    calls: Vec<Call>,
    numbers: Vec<u32>,
    threads: Vec<Option<i64>>,
    /// By number of a call: its place, or the place of the call that contains it.
    places: Vec<u32>,
}

impl Steps {
    fn new(regions: &DataFrame, calls: &LaunchingCalls, launching: impl Iterator<Item = u32>) -> Result<Self> {
        let facts = ApiClasses::builtin();
        let valid = regions.truths("valid")?;
        let annotations = BoolValues::new(&rows_named(regions.column("domain")?, |domain| facts.annotates(domain))?);
        let waits_of = values_by_text(calls.all_names(), |name| match facts.synchronizes(name) {
            false => Waits::Nothing,
            true if facts.drains_device(name) => Waits::Device,
            true if facts.drains_stream(name) => Waits::Stream,
            true => Waits::Any,
        })?;
        let waits = |number: u32| waits_of.get(number as usize).copied().flatten().unwrap_or(Waits::Nothing);
        let mut chosen = vec![false; calls.numbers()];
        for number in launching {
            chosen.get_mut(number as usize).into_iter().for_each(|chosen| *chosen = true);
        }
        for (chosen, valid, annotation, waits) in izip!(chosen.iter_mut(), valid.iter(), annotations.iter(), &waits_of)
        {
            *chosen |=
                valid == Some(true) && annotation != Some(true) && waits.is_some_and(|waits| waits != Waits::Nothing);
        }
        let mut known: BTreeMap<Option<i64>, u32> = BTreeMap::new();
        let mut outline: Vec<(u32, i64, Reverse<i64>, u32)> = Vec::new();
        for (number, _) in (0_u32..).zip(chosen).filter(|(_, chosen)| *chosen) {
            let Some(call) = calls.at(number).filter(|call| call.start_ns <= call.end_ns) else { continue };
            let next = known.len() as u32;
            let thread = *known.entry(call.tid).or_insert(next);
            outline.push((thread, call.start_ns, Reverse(call.end_ns), number));
        }
        outline.sort_unstable();
        let mut places = vec![NONE; calls.numbers()];
        let (mut steps, mut numbers): (Vec<Call>, Vec<u32>) = (Vec::new(), Vec::new());
        for (thread, start_ns, Reverse(end_ns), number) in outline {
            if steps.last().is_none_or(|last| last.thread != thread || last.end_ns < end_ns) {
                steps.push(Call { start_ns, end_ns, thread, waits: waits(number) });
                numbers.push(number);
            }
            if let Some(place) = places.get_mut(number as usize) {
                *place = (steps.len() as u32).saturating_sub(1);
            }
        }
        let mut threads = vec![None; known.len()];
        for (tid, thread) in known {
            threads.get_mut(thread as usize).into_iter().for_each(|slot| *slot = tid);
        }
        Ok(Self { calls: steps, numbers, threads, places })
    }
}

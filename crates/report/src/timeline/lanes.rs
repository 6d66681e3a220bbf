//! The lanes of a window: what a GPU and its process did, event by event.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;

use super::columns::{Extent, integers, rows_in, texts, times};
use super::host::{HostLanes, host_lanes};
use super::kinds::{Kinds, kind_label};
use super::launches::{Launch, launches};
use super::model::PathLine;
use super::names::Names;
use super::slices::{Event, EventLane, MAX_ROWS};
use wavesieve_engine::findings::{bytes, counted};
use wavesieve_tables::columns::requests::ProcessTables;

/// The numbers and the groups that lanes use.
pub(super) struct Legend<'a, 'b> {
    /// Names.
    pub names: &'a mut Names<'b>,
    /// Kinds.
    pub kinds: &'a mut Kinds,
    /// Id of the group of the GPU.
    pub gpu_group: String,
    /// Id of the group of the process.
    pub host_group: String,
}

/// Maximum number of parts of the critical path.
const MAX_PATH: usize = 6_000;

/// Place of an event: its lane and its position there.
type Place = (usize, usize);

/// The lanes of a part of the run, before short events are summed up.
#[derive(Default)]
pub(super) struct WindowLanes {
    /// The lanes in the order of display.
    pub lanes: Vec<EventLane>,
    /// From calls to work, by lane and event key.
    pub flows: Vec<[FlowEnd; 2]>,
    /// The critical path.
    pub path: PathLine,
    /// Sentences about what is left out.
    pub notes: Vec<String>,
}

/// An event that a flow starts or ends at: its lane, start, end and id.
pub(super) type FlowEnd = (usize, i64, i64, i64);

/// The lanes of a GPU and its process in a part of the run.
///
/// # Errors
/// When the tables lack a column.
pub(super) fn lanes(
    tables: &ProcessTables,
    gpu: Option<i64>,
    time: Extent,
    legend: &mut Legend<'_, '_>,
) -> Result<WindowLanes> {
    let launched = launches(tables, gpu, time)?;
    let earliest_ns = first_call_ns(&launched, time);
    let HostLanes { lanes: mut host, innermost, notes } = host_lanes(tables, time, earliest_ns, legend)?;
    let about: BTreeMap<(bool, i64), usize> = launched
        .iter()
        .filter_map(|launch| {
            Some(((launch.is_copy, launch.target_id), innermost.at(launch.tid?, launch.call.start_ns)?))
        })
        .collect();
    let mut all = kernel_lanes(tables, gpu, time, &about, legend)?;
    all.extend(copy_lane(tables, gpu, time, &about, legend)?);
    all.extend(gap_lane(tables, gpu, time, legend)?);
    all.append(&mut host);
    all.iter_mut().for_each(EventLane::arrange);
    let places = places(&all);
    let flows = flows(&all, &places, &launched);
    let (path, left_out) = path(tables, time, &all, &places)?;
    let crowded = all.iter().filter(|lane| lane.hidden > 0).map(|lane| {
        let hidden = counted(lane.hidden as f64, "event");
        format!("{} shows {MAX_ROWS} rows of overlapping events, and not the other {hidden}.", lane.label)
    });
    let notes = notes.into_iter().chain(left_out).chain(crowded).collect();
    Ok(WindowLanes { lanes: all, flows, path, notes })
}

fn first_call_ns(launched: &[Launch], time: Extent) -> i64 {
    launched.iter().map(|launch| launch.call.start_ns).min().unwrap_or(time.start_ns)
}

/// The part of the run whose rows [`lanes`] needs: it starts with the first call that launched work of the window.
///
/// # Errors
/// When the tables lack a column.
pub(super) fn reached(tables: &ProcessTables, gpu: Option<i64>, time: Extent) -> Result<Extent> {
    let earliest_ns = first_call_ns(&launches(tables, gpu, time)?, time);
    Ok(Extent { start_ns: earliest_ns.min(time.start_ns), end_ns: time.end_ns })
}

/// Rows of a table that belong to the GPU.
fn rows_of_gpu(
    tables: &ProcessTables,
    name: &str,
    gpu: Option<i64>,
    time: Extent,
) -> Result<(DataFrame, Vec<(usize, Extent)>)> {
    let frame = rows_in(tables, name, time)?;
    if frame.height() == 0 {
        return Ok((frame, Vec::new()));
    }
    let gpus = integers(&frame, "gpu")?;
    let is_own = |row: usize| gpu.is_none() || gpus.get(row) == gpu;
    let rows = times(&frame)?.into_iter().filter(|(row, _)| is_own(*row)).collect();
    Ok((frame, rows))
}

/// A lane for each stream, or for each queue if no stream is recorded.
fn kernel_lanes(
    tables: &ProcessTables,
    gpu: Option<i64>,
    time: Extent,
    about: &BTreeMap<(bool, i64), usize>,
    legend: &mut Legend<'_, '_>,
) -> Result<Vec<EventLane>> {
    let (frame, rows) = rows_of_gpu(tables, "kernels", gpu, time)?;
    if rows.is_empty() {
        return counted_lane(tables, gpu, time, legend);
    }
    let (ids, streams, queues) =
        (integers(&frame, "dispatch_id")?, integers(&frame, "stream_id")?, integers(&frame, "queue_id")?);
    let (names, categories, ranges) =
        (texts(&frame, "kernel_name")?, texts(&frame, "category")?, texts(&frame, "region_name")?);
    let has_streams = rows.iter().any(|(row, _)| streams.get(*row).is_some());
    let (word, numbers) = if has_streams { ("stream", &streams) } else { ("queue", &queues) };
    let mut by_number: BTreeMap<Option<i64>, Vec<Event>> = BTreeMap::new();
    for (row, time) in rows {
        let name = legend.names.kernel(names.get(row).unwrap_or_default());
        let kind = legend.kinds.index(categories.get(row).unwrap_or("other"));
        let id = ids.get(row).unwrap_or(-1);
        let mut event = Event::new((time.start_ns, time.end_ns), name, kind, id);
        event.about = about.get(&(false, id)).copied();
        if event.about.is_none() {
            event.about = ranges.get(row).filter(|range| !range.is_empty()).map(|range| legend.names.index(range));
        }
        by_number.entry(numbers.get(row)).or_default().push(event);
    }
    let several = legend.names.index("several kernels");
    let group = legend.gpu_group.clone();
    let lane = |(number, events): (Option<i64>, Vec<Event>)| {
        let shown = number.map_or_else(|| "unknown".to_owned(), |number| number.to_string());
        EventLane {
            id: format!("{group}/{word}/{shown}"),
            group: group.clone(),
            kind: "kernels",
            label: format!("{word} {shown}"),
            events,
            several,
            ..EventLane::default()
        }
    };
    Ok(by_number.into_iter().map(lane).collect())
}

/// The dispatches of counter passes, if there are no others.
fn counted_lane(
    tables: &ProcessTables,
    gpu: Option<i64>,
    time: Extent,
    legend: &mut Legend<'_, '_>,
) -> Result<Vec<EventLane>> {
    let (frame, rows) = rows_of_gpu(tables, "counter_dispatches", gpu, time)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let (ids, names) = (integers(&frame, "dispatch_id")?, texts(&frame, "kernel_name")?);
    let kind = legend.kinds.index("compute");
    let event = |(row, time): (usize, Extent)| {
        let name = legend.names.kernel(names.get(row).unwrap_or_default());
        Event::new((time.start_ns, time.end_ns), name, kind, ids.get(row).unwrap_or(-1))
    };
    let events = rows.into_iter().map(event).collect();
    let group = legend.gpu_group.clone();
    Ok(vec![EventLane {
        id: format!("{group}/counters"),
        group,
        kind: "kernels",
        label: "dispatches with counters".to_owned(),
        events,
        several: legend.names.index("several kernels"),
        ..EventLane::default()
    }])
}

fn copy_lane(
    tables: &ProcessTables,
    gpu: Option<i64>,
    time: Extent,
    about: &BTreeMap<(bool, i64), usize>,
    legend: &mut Legend<'_, '_>,
) -> Result<Option<EventLane>> {
    let frame = rows_in(tables, "memory_copies", time)?;
    if frame.height() == 0 {
        return Ok(None);
    }
    let (gpus, peers) = (integers(&frame, "gpu")?, integers(&frame, "peer_gpu")?);
    let (ids, sizes, directions) =
        (integers(&frame, "copy_id")?, integers(&frame, "bytes")?, texts(&frame, "direction")?);
    let kind = legend.kinds.index("copy");
    let mut events = Vec::new();
    for (row, time) in times(&frame)? {
        let of = [gpus.get(row), peers.get(row)];
        let is_own = gpu.is_none_or(|gpu| of.contains(&Some(gpu)) || of == [None, None]);
        if !is_own {
            continue;
        }
        let name = legend.names.index(&format!("{} copy", directions.get(row).unwrap_or("unknown")));
        let id = ids.get(row).unwrap_or(-1);
        let mut event = Event::new((time.start_ns, time.end_ns), name, kind, id);
        let size = sizes.get(row).map(|size| bytes(size as f64));
        event.about = size.map(|size| legend.names.index(&size)).or_else(|| about.get(&(true, id)).copied());
        events.push(event);
    }
    let several = legend.names.index("several copies");
    let group = legend.gpu_group.clone();
    Ok((!events.is_empty()).then(|| EventLane {
        id: format!("{group}/copies"),
        group,
        kind: "copies",
        label: "copies".to_owned(),
        events,
        several,
        ..EventLane::default()
    }))
}

/// Idle intervals by cause.
fn gap_lane(
    tables: &ProcessTables,
    gpu: Option<i64>,
    time: Extent,
    legend: &mut Legend<'_, '_>,
) -> Result<Option<EventLane>> {
    let (frame, rows) = rows_of_gpu(tables, "idle_gaps", gpu, time)?;
    if rows.is_empty() {
        return Ok(None);
    }
    let (ids, causes) = (integers(&frame, "gap_id")?, texts(&frame, "cause")?);
    let (calls, kernels) = (texts(&frame, "api_name")?, texts(&frame, "kernel_after")?);
    let mut events = Vec::new();
    for (row, time) in rows {
        let id = format!("idle:{}", causes.get(row).unwrap_or("no_record"));
        let (name, kind) = (legend.names.index(&kind_label(&id)), legend.kinds.index(&id));
        let mut event = Event::new((time.start_ns, time.end_ns), name, kind, ids.get(row).unwrap_or(-1));
        let about = match (calls.get(row), kernels.get(row)) {
            (Some(call), _) => Some(format!("in {call}")),
            (None, Some(kernel)) => Some(format!("before {}", legend.names.shown(kernel))),
            (None, None) => None,
        };
        event.about = about.map(|about| legend.names.index(&about));
        events.push(event);
    }
    let several = legend.names.index("several gaps");
    let group = legend.gpu_group.clone();
    Ok(Some(EventLane {
        id: format!("{group}/gaps"),
        group,
        kind: "gaps",
        label: "idle, by cause".to_owned(),
        events,
        several,
        ..EventLane::default()
    }))
}

/// Where kernels, copies and calls are.
#[derive(Default)]
struct Places {
    /// By whether it is a copy, and id.
    work: BTreeMap<(bool, i64), Place>,
    /// Calls by lane of their thread, start and end.
    calls: BTreeMap<(usize, i64, i64), Place>,
    /// Lane of calls by thread.
    threads: BTreeMap<String, usize>,
}

fn places(lanes: &[EventLane]) -> Places {
    let mut places = Places::default();
    for (lane, of_lane) in lanes.iter().enumerate() {
        if of_lane.kind == "calls" {
            let thread = of_lane.id.rsplit('/').next().unwrap_or_default();
            places.threads.insert(thread.to_owned(), lane);
        }
        for (position, event) in of_lane.events.iter().enumerate() {
            match of_lane.kind {
                "kernels" => drop(places.work.insert((false, event.id), (lane, position))),
                "copies" => drop(places.work.insert((true, event.id), (lane, position))),
                // The innermost of several calls with the same times comes last.
                "calls" => drop(places.calls.insert((lane, event.start_ns, event.end_ns), (lane, position))),
                _ => {}
            }
        }
    }
    places
}

fn flows(lanes: &[EventLane], places: &Places, launched: &[Launch]) -> Vec<[FlowEnd; 2]> {
    let end = |(lane, position): Place| {
        let event = lanes.get(lane)?.events.get(position)?;
        Some((lane, event.start_ns, event.end_ns, event.id))
    };
    let flow = |launch: &Launch| {
        let thread = places.threads.get(&launch.tid?.to_string())?;
        let call = places.calls.get(&(*thread, launch.call.start_ns, launch.call.end_ns))?;
        let work = places.work.get(&(launch.is_copy, launch.target_id))?;
        Some([end(*call)?, end(*work)?])
    };
    launched.iter().filter_map(flow).collect()
}

/// The critical path in a part of the run, or a sentence why it is left out.
fn path(
    tables: &ProcessTables,
    time: Extent,
    lanes: &[EventLane],
    places: &Places,
) -> Result<(PathLine, Option<String>)> {
    let frame = rows_in(tables, "critical_path", time)?;
    let mut path = PathLine::default();
    if frame.height() == 0 {
        return Ok((path, None));
    }
    let (kinds, targets, threads) = (texts(&frame, "kind")?, integers(&frame, "target_id")?, integers(&frame, "tid")?);
    let gaps = lanes.iter().position(|lane| lane.kind == "gaps");
    let mut parts: Vec<(Extent, i64)> = Vec::new();
    for (row, part) in times(&frame)? {
        let work = |is_copy| Some(places.work.get(&(is_copy, targets.get(row)?))?.0);
        let lane = match kinds.get(row) {
            Some("kernel") => work(false),
            Some("copy") => work(true),
            Some("api" | "host" | "sync_wakeup") => {
                threads.get(row).and_then(|tid| places.threads.get(&tid.to_string()).copied())
            }
            Some("launch_latency" | "queue_wait") => gaps,
            _ => None,
        };
        let lane = lane.and_then(|lane| i64::try_from(lane).ok()).unwrap_or(-1);
        match parts.last_mut() {
            // Neighbors in one lane are one part.
            Some((last, of)) if *of == lane && last.end_ns == part.start_ns => last.end_ns = part.end_ns,
            _ => parts.push((part, lane)),
        }
    }
    if parts.len() > MAX_PATH {
        return Ok((path, Some(format!("the critical path has {} parts and is left out.", parts.len()))));
    }
    let mut before_ns = time.start_ns;
    for (part, lane) in parts {
        path.start_ns.push(part.start_ns.saturating_sub(before_ns));
        before_ns = part.start_ns;
        path.length_ns.push(part.length_ns());
        path.lane.push(lane);
    }
    Ok((path, None))
}

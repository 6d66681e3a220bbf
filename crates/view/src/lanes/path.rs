//! The critical path of a process, with the lanes that it takes.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;
use wavesieve_model::schema;
use wavesieve_report::timeline::model::{Lane, PathLine};
use wavesieve_tables::trace::{Trace, TraceProcess};

use super::answer::LanesRequest;
use super::frames::{Texts, integers, read_all};
use super::part::Part;

/// Number of dispatches of a process above which its path is left out: it takes as much time as everything else.
const MAX_DISPATCHES: u64 = 1_000_000;
/// Index of no lane.
const NO_LANE: u32 = u32::MAX;

/// A part of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPart {
    /// Start, from the start of the run.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Index of its lane.
    pub lane: u32,
}

const PATH_COLUMNS: [&str; 6] = ["kind", "target_id", "gpu", "tid", "start_ns", "end_ns"];
const KERNEL_COLUMNS: [&str; 4] = ["dispatch_id", "gpu", "queue_id", "stream_id"];
const COPY_COLUMNS: [&str; 3] = ["copy_id", "gpu", "stream_id"];

/// A lane on the path: GPU, and id after the id of the group.
type PathLane = (Option<i64>, String);

/// Reads the path of a process. `shift_ns` is added to its times.
pub fn part(trace: &Trace, member: &TraceProcess, shift_ns: i64) -> Result<Part> {
    if schema::table("kernels").is_some_and(|kernels| trace.recorded_rows(member, kernels) > MAX_DISPATCHES) {
        let note = format!("the critical path is left out: the process has more than {MAX_DISPATCHES} dispatches");
        return Ok(Part { notes: vec![note], ..Part::default() });
    }
    let tables: [(&str, &[&str]); 3] =
        [("critical_path", &PATH_COLUMNS), ("kernels", &KERNEL_COLUMNS), ("memory_copies", &COPY_COLUMNS)];
    let frames = read_all(trace, member, &tables)?;
    let Some(frame) = frames.get("critical_path") else { return Ok(Part::default()) };
    let mut lanes: BTreeMap<PathLane, u32> = BTreeMap::new();
    let mut places = [BTreeMap::new(), BTreeMap::new()];
    for ((table, id), places) in [("kernels", "dispatch_id"), ("memory_copies", "copy_id")].into_iter().zip(&mut places)
    {
        if let Some(frame) = frames.get(table) {
            *places = work_lanes(frame, id, &mut lanes)?;
        }
    }
    let [kernels, copies] = places;
    let mut texts = Texts::default();
    let kinds = texts.of_column(frame, "kind", str::to_owned)?;
    let kind_names = texts.into_list();
    let (targets, gpus, tids) = (integers(frame, "target_id")?, integers(frame, "gpu")?, integers(frame, "tid")?);
    let (starts, ends) = (integers(frame, "start_ns")?, integers(frame, "end_ns")?);
    let mut path: Vec<PathPart> = Vec::with_capacity(frame.height());
    for row in 0..frame.height() {
        let (Some(start_ns), Some(end_ns)) = (starts.get(row), ends.get(row)) else { continue };
        let kind = kinds.get(row).copied().flatten().and_then(|kind| kind_names.get(kind as usize));
        let lane = match kind.map(String::as_str) {
            Some("kernel") => targets.get(row).and_then(|id| kernels.get(&id).copied()),
            Some("copy") => targets.get(row).and_then(|id| copies.get(&id).copied()),
            Some("api" | "host" | "sync_wakeup") => {
                tids.get(row).map(|tid| numbered(&mut lanes, (None, format!("calls/{tid}"))))
            }
            Some("launch_latency" | "queue_wait") => {
                gpus.get(row).map(|gpu| numbered(&mut lanes, (Some(gpu), "gaps".to_owned())))
            }
            _ => None,
        };
        let (start_ns, end_ns) = (start_ns.saturating_add(shift_ns), end_ns.saturating_add(shift_ns));
        if start_ns < end_ns {
            path.push(PathPart { start_ns, end_ns, lane: lane.unwrap_or(NO_LANE) });
        }
    }
    path.sort_unstable_by_key(|part| (part.start_ns, part.end_ns));
    let mut path_lanes: Vec<(u32, PathLane)> = lanes.into_iter().map(|(lane, number)| (number, lane)).collect();
    path_lanes.sort_unstable();
    Ok(Part { path, path_lanes: path_lanes.into_iter().map(|(_, lane)| lane).collect(), ..Part::default() })
}

fn numbered(lanes: &mut BTreeMap<PathLane, u32>, lane: PathLane) -> u32 {
    let next = u32::try_from(lanes.len()).unwrap_or(NO_LANE);
    *lanes.entry(lane).or_insert(next)
}

/// The lanes of kernels or copies by id, as the lanes of GPUs name them.
fn work_lanes(frame: &DataFrame, id: &str, lanes: &mut BTreeMap<PathLane, u32>) -> Result<BTreeMap<i64, u32>> {
    let (ids, gpus, streams) = (integers(frame, id)?, integers(frame, "gpu")?, integers(frame, "stream_id")?);
    let queues = if id == "dispatch_id" { Some(integers(frame, "queue_id")?) } else { None };
    let mut numbers: BTreeMap<(i64, Option<i64>, Option<i64>), u32> = BTreeMap::new();
    let mut places = BTreeMap::new();
    for row in 0..frame.height() {
        let (Some(id), Some(gpu)) = (ids.get(row), gpus.get(row)) else { continue };
        let (stream, queue) = (streams.get(row), queues.as_ref().and_then(|queues| queues.get(row)));
        let number = *numbers.entry((gpu, stream, queue)).or_insert_with(|| {
            let name = match (stream, &queues) {
                (stream, None) => format!("copies/{}", stream.unwrap_or(0)),
                (Some(stream), _) => format!("stream/{stream}"),
                (None, _) => format!("queue/{}", queue.unwrap_or(0)),
            };
            numbered(lanes, (Some(gpu), name))
        });
        places.insert(id, number);
    }
    Ok(places)
}

/// The path in a range, where parts shorter than a pixel are summed up: the part has the lane that takes most of its time. `shown` are the
/// lanes of the answer; `process` is the id of the process before that of a lane.
pub fn path_line(part: &Part, request: LanesRequest, process: &str, shown: &[Lane]) -> PathLine {
    let place_of: BTreeMap<&str, usize> = shown.iter().enumerate().map(|(at, lane)| (lane.id.as_str(), at)).collect();
    let place = |(gpu, id): &PathLane| {
        let group = gpu.map_or_else(|| process.to_owned(), |gpu| format!("{process}g{gpu}"));
        place_of.get(format!("{group}/{id}").as_str()).and_then(|at| i64::try_from(*at).ok()).unwrap_or(-1)
    };
    let places: Vec<i64> = part.path_lanes.iter().map(place).collect();
    let lane_of = |part: &PathPart| places.get(part.lane as usize).copied().unwrap_or(-1);
    let mut line = PathLine::default();
    let mut before_ns = request.start_ns;
    for (start_ns, end_ns, lane) in drawn(&part.path, request, lane_of) {
        line.start_ns.push(start_ns.saturating_sub(before_ns));
        before_ns = start_ns;
        line.length_ns.push(end_ns.saturating_sub(start_ns));
        line.lane.push(lane);
    }
    line
}

/// Start, end and lane of what is drawn of a path.
fn drawn(path: &[PathPart], request: LanesRequest, lane_of: impl Fn(&PathPart) -> i64) -> Vec<(i64, i64, i64)> {
    let pixel_ns = request.pixel_ns().max(1);
    let mut drawn: Vec<(i64, i64, i64)> = Vec::new();
    let mut push = |(start_ns, end_ns, lane): (i64, i64, i64)| match drawn.last_mut() {
        // Neighbors in one lane are one part.
        Some((_, last_ns, of)) if *of == lane && *last_ns == start_ns => *last_ns = end_ns,
        _ => drawn.push((start_ns, end_ns, lane)),
    };
    // Short parts of a pixel: number, start, end, and time by lane.
    let mut short: Option<(i64, i64, i64, BTreeMap<i64, i64>)> = None;
    let first = path.partition_point(|part| part.end_ns <= request.start_ns);
    let inside = path.iter().skip(first).take_while(|part| part.start_ns < request.end_ns);
    let summed = |short: &mut Option<(i64, i64, i64, BTreeMap<i64, i64>)>| {
        let (_, start_ns, end_ns, times) = short.take()?;
        let most = times.into_iter().max_by_key(|(lane, time_ns)| (*time_ns, -lane))?;
        Some((start_ns, end_ns, most.0))
    };
    for part in inside {
        let (length_ns, number) = (part.end_ns.saturating_sub(part.start_ns), part.start_ns.div_euclid(pixel_ns));
        if length_ns >= pixel_ns || short.as_ref().is_some_and(|(of, ..)| *of != number) {
            summed(&mut short).into_iter().for_each(&mut push);
        }
        if length_ns >= pixel_ns {
            push((part.start_ns, part.end_ns, lane_of(part)));
            continue;
        }
        let (_, _, end_ns, times) = short.get_or_insert((number, part.start_ns, part.end_ns, BTreeMap::new()));
        *end_ns = part.end_ns;
        *times.entry(lane_of(part)).or_default() += length_ns;
    }
    summed(&mut short).into_iter().for_each(&mut push);
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_parts_of_a_pixel_have_the_lane_of_most_of_its_time() {
        let ends = [(4, 0), (6, 1), (50, 2), (53, 1), (58, 0), (60, 1), (61, 0), (90, 0)];
        let mut start_ns = 0;
        let part = |(end_ns, lane): (i64, u32)| {
            let part = PathPart { start_ns, end_ns, lane };
            start_ns = end_ns;
            part
        };
        let path: Vec<PathPart> = ends.into_iter().map(part).collect();
        let lane = |part: &PathPart| i64::from(part.lane);
        let of = |start_ns, end_ns, pixels| LanesRequest { start_ns, end_ns, pixels, most: 9 };
        assert_eq!(drawn(&path, of(0, 100, 10), lane), [(0, 6, 0), (6, 50, 2), (50, 90, 0)]);
        assert_eq!(drawn(&path, of(51, 60, 9), lane), [(50, 53, 1), (53, 58, 0), (58, 60, 1)]);
        assert_eq!(drawn(&path, of(90, 100, 1), lane), []);
        let whole: i64 = drawn(&path, of(0, 90, 3), lane).iter().map(|(start_ns, end_ns, _)| end_ns - start_ns).sum();
        assert_eq!(whole, 90);
    }
}

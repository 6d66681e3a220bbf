//! Kernels, copies and gaps of the GPUs of a process.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;
use wavesieve_report::timeline::KERNEL_COLUMNS;
use wavesieve_tables::trace::{Trace, TraceProcess};

use super::counters;
use super::event::{Event, NO_NAME};
use super::frames::{Texts, flags, integers, read_all, readable};
use super::part::{Part, StoredLane};
use super::places::{Placing, rows};
use super::row::Row;

/// A lane by GPU, order of display, and number of the stream or queue.
type LaneKey = (i64, Order, i64);

/// Order of the lanes of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Streams,
    Queues,
    Copies,
    Gaps,
}

/// Ids of work with their correlation ids, sorted.
type Links = Vec<(i64, i64)>;

/// A kernel or copy that can be drawn.
struct Work {
    row: usize,
    id: i64,
    gpu: i64,
    stream: Option<i64>,
    times: (i64, i64),
}

struct Lanes {
    events: BTreeMap<LaneKey, Vec<Event>>,
    names: Texts,
    kinds: Texts,
    shift_ns: i64,
    invalid: u64,
    without_gpu: u64,
}

const COPY_COLUMNS: [&str; 9] =
    ["copy_id", "direction", "gpu", "bytes", "stream_id", "correlation_id", "start_ns", "end_ns", "valid"];
const GAP_COLUMNS: [&str; 6] = ["gpu", "gap_id", "start_ns", "end_ns", "cause", "api_name"];

/// Reads the lanes of all GPUs of a process.
pub fn part(trace: &Trace, member: &TraceProcess, shift_ns: i64) -> Result<Part> {
    let names = Texts::new(&["several"]);
    let kinds = Texts::default();
    let mut lanes = Lanes { events: BTreeMap::new(), names, kinds, shift_ns, invalid: 0, without_gpu: 0 };
    let of_kernels: Vec<&str> = KERNEL_COLUMNS.into_iter().chain(["correlation_id"]).collect();
    let tables: [(&str, &[&str]); 3] =
        [("kernels", &of_kernels), ("memory_copies", &COPY_COLUMNS), ("idle_gaps", &GAP_COLUMNS)];
    let frames = read_all(trace, member, &tables)?;
    let frame = |table: &str| frames.get(table);
    let links = frame("kernels").map(|frame| lanes.kernels(frame)).transpose()?;
    let copy_links = frame("memory_copies").map(|frame| lanes.copies(frame)).transpose()?;
    frame("idle_gaps").map(|frame| lanes.gaps(frame)).transpose()?;
    drop(frames);
    let mut part = lanes.finish(links.unwrap_or_default(), copy_links.unwrap_or_default());
    part.add_counters(counters::read(trace, member, shift_ns)?, false, counters::has_work(trace, member));
    Ok(part)
}

impl Lanes {
    fn add(&mut self, key: LaneKey, event: Event) {
        self.events.entry(key).or_default().push(event);
    }

    /// Start and end of a valid row on the clock of the picture.
    fn times(&mut self, start_ns: Option<i64>, end_ns: Option<i64>, valid: Option<bool>) -> Option<(i64, i64)> {
        let times = start_ns.zip(end_ns).filter(|(start_ns, end_ns)| valid == Some(true) && start_ns <= end_ns);
        self.invalid += u64::from(times.is_none());
        let (start_ns, end_ns) = times?;
        Some((start_ns.saturating_add(self.shift_ns), end_ns.saturating_add(self.shift_ns)))
    }

    fn kernels(&mut self, frame: &DataFrame) -> Result<Links> {
        let shown = readable(frame, "kernel_name")?;
        let names = self.names.of_column(frame, "kernel_name", |name| shown.shown(name).into_owned())?;
        let abouts = self.names.of_column(frame, "region_name", str::to_owned)?;
        let kinds = self.kinds.of_column(frame, "category", str::to_owned)?;
        let queues = integers(frame, "queue_id")?;
        let (unknown, other) = (self.names.index("unknown kernel"), self.kinds.index("other"));
        let (work, links) = self.work(frame, "dispatch_id")?;
        for Work { row, id, gpu, stream, times } in work {
            let lane = match (stream, queues.get(row)) {
                (Some(stream), _) => (gpu, Order::Streams, stream),
                (None, queue) => (gpu, Order::Queues, queue.unwrap_or(0)),
            };
            let at = |list: &[Option<u32>], otherwise| list.get(row).copied().flatten().unwrap_or(otherwise);
            let kind = u16::try_from(at(&kinds, other)).unwrap_or(0);
            self.add(lane, Event::one(times, id, at(&names, unknown), kind, at(&abouts, NO_NAME)));
        }
        Ok(links)
    }

    fn copies(&mut self, frame: &DataFrame) -> Result<Links> {
        let names = self.names.of_column(frame, "direction", |direction| format!("{direction} copy"))?;
        let bytes = integers(frame, "bytes")?;
        let kind = u16::try_from(self.kinds.index("copy")).unwrap_or(0);
        let unknown = self.names.index("copy");
        let (work, links) = self.work(frame, "copy_id")?;
        for Work { row, id, gpu, stream, times } in work {
            let name = names.get(row).copied().flatten().unwrap_or(unknown);
            let about = bytes.get(row).map_or(NO_NAME, |bytes| self.names.index(&format!("{bytes} B")));
            self.add((gpu, Order::Copies, stream.unwrap_or(0)), Event::one(times, id, name, kind, about));
        }
        Ok(links)
    }

    /// The rows of kernels or copies that can be drawn, and their links to calls in the order of ids.
    fn work(&mut self, frame: &DataFrame, id: &str) -> Result<(Vec<Work>, Links)> {
        let (ids, gpus, streams) = (integers(frame, id)?, integers(frame, "gpu")?, integers(frame, "stream_id")?);
        let correlations = integers(frame, "correlation_id")?;
        let (starts, ends, valid) = (integers(frame, "start_ns")?, integers(frame, "end_ns")?, flags(frame, "valid")?);
        let (mut work, mut links) = (Vec::with_capacity(frame.height()), Vec::new());
        for (row, valid) in valid.iter().enumerate() {
            let Some(times) = self.times(starts.get(row), ends.get(row), valid) else { continue };
            let Some(gpu) = gpus.get(row) else {
                self.without_gpu += 1;
                continue;
            };
            let Some(id) = ids.get(row) else { continue };
            work.push(Work { row, id, gpu, stream: streams.get(row), times });
            links.extend(correlations.get(row).map(|correlation| (id, correlation)));
        }
        links.sort_unstable();
        Ok((work, links))
    }

    fn gaps(&mut self, frame: &DataFrame) -> Result<()> {
        let names = self.names.of_column(frame, "cause", |cause| cause.replace('_', " "))?;
        let kinds = self.kinds.of_column(frame, "cause", |cause| format!("idle:{cause}"))?;
        let abouts = self.names.of_column(frame, "api_name", str::to_owned)?;
        let (ids, gpus) = (integers(frame, "gap_id")?, integers(frame, "gpu")?);
        let (starts, ends) = (integers(frame, "start_ns")?, integers(frame, "end_ns")?);
        for row in 0..frame.height() {
            let Some(times) = self.times(starts.get(row), ends.get(row), Some(true)) else { continue };
            let (Some(gpu), Some(id)) = (gpus.get(row), ids.get(row)) else { continue };
            let at = |list: &[Option<u32>]| list.get(row).copied().flatten();
            let (Some(name), Some(kind)) = (at(&names), at(&kinds)) else { continue };
            let kind = u16::try_from(kind).unwrap_or(0);
            self.add((gpu, Order::Gaps, 0), Event::one(times, id, name, kind, at(&abouts).unwrap_or(NO_NAME)));
        }
        Ok(())
    }

    fn finish(self, links: Links, copy_links: Links) -> Part {
        let mut omitted = 0;
        let lane = |((gpu, order, number), events): (LaneKey, Vec<Event>)| {
            let (id, kind, label) = match order {
                Order::Streams => (format!("stream/{number}"), "kernels", format!("stream {number}")),
                Order::Queues => (format!("queue/{number}"), "kernels", format!("queue {number}")),
                Order::Copies => (format!("copies/{number}"), "copies", format!("copies {number}")),
                Order::Gaps => ("gaps".to_owned(), "gaps", "idle".to_owned()),
            };
            let (rows, left) = rows(events, Placing::Lowest);
            omitted += left;
            StoredLane { gpu: Some(gpu), id, kind, label, rows: rows.into_iter().map(Row::new).collect() }
        };
        let lanes = self.events.into_iter().map(lane).collect();
        let mut notes = notes("of GPU work", self.invalid, omitted);
        if self.without_gpu > 0 {
            notes.push(not_drawn(self.without_gpu, "row", "without a known GPU"));
        }
        let (names, kinds) = (self.names.into_list(), self.kinds.into_list());
        Part { lanes, names, kinds, links, copy_links, notes, ..Part::default() }
    }
}

/// Sentences about rows of a kind that are not drawn.
pub fn notes(kind: &str, invalid: u64, omitted: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if invalid > 0 {
        notes.push(not_drawn(invalid, "row", &format!("{kind} with invalid timestamps")));
    }
    if omitted > 0 {
        let omitted = u64::try_from(omitted).unwrap_or(u64::MAX);
        notes.push(not_drawn(omitted, "event", &format!("{kind} with more than 255 others at the same time")));
    }
    notes
}

/// The sentence about a number of rows or events that are not drawn.
fn not_drawn(count: u64, noun: &str, which: &str) -> String {
    if count == 1 { format!("1 {noun} {which} is not drawn") } else { format!("{count} {noun}s {which} are not drawn") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_not_drawn_are_counted() {
        assert!(notes("of GPU work", 0, 0).is_empty());
        assert_eq!(
            notes("of GPU work", 1, 2),
            [
                "1 row of GPU work with invalid timestamps is not drawn",
                "2 events of GPU work with more than 255 others at the same time are not drawn",
            ]
        );
    }
}

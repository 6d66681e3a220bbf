//! Kernels, copies and gaps of the GPUs of a process.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::DataFrame;
use wavesieve_tables::trace::{Trace, TraceProcess};

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

struct Lanes {
    events: BTreeMap<LaneKey, Vec<Event>>,
    names: Texts,
    kinds: Texts,
    shift_ns: i64,
    invalid: u64,
    without_gpu: u64,
}

const KERNEL_COLUMNS: [&str; 11] = [
    "dispatch_id",
    "kernel_name",
    "category",
    "gpu",
    "queue_id",
    "stream_id",
    "correlation_id",
    "region_name",
    "start_ns",
    "end_ns",
    "valid",
];
const COPY_COLUMNS: [&str; 9] =
    ["copy_id", "direction", "gpu", "bytes", "stream_id", "correlation_id", "start_ns", "end_ns", "valid"];
const GAP_COLUMNS: [&str; 6] = ["gpu", "gap_id", "start_ns", "end_ns", "cause", "api_name"];

/// Reads the lanes of all GPUs of a process.
pub fn part(trace: &Trace, member: &TraceProcess, shift_ns: i64) -> Result<Part> {
    let names = Texts::new(&["several"]);
    let kinds = Texts::default();
    let mut lanes = Lanes { events: BTreeMap::new(), names, kinds, shift_ns, invalid: 0, without_gpu: 0 };
    let tables: [(&str, &[&str]); 3] =
        [("kernels", &KERNEL_COLUMNS), ("memory_copies", &COPY_COLUMNS), ("idle_gaps", &GAP_COLUMNS)];
    let frames = read_all(trace, member, &tables)?;
    let frame = |table: &str| frames.get(table);
    let links = frame("kernels").map(|frame| lanes.kernels(frame)).transpose()?;
    let copy_links = frame("memory_copies").map(|frame| lanes.copies(frame)).transpose()?;
    frame("idle_gaps").map(|frame| lanes.gaps(frame)).transpose()?;
    drop(frames);
    Ok(lanes.finish(links.unwrap_or_default(), copy_links.unwrap_or_default()))
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

    fn kernels(&mut self, frame: &DataFrame) -> Result<Vec<(i64, i64)>> {
        let shown = readable(frame, "kernel_name")?;
        let names = self.names.of_column(frame, "kernel_name", |name| shown.shown(name).into_owned())?;
        let abouts = self.names.of_column(frame, "region_name", str::to_owned)?;
        let kinds = self.kinds.of_column(frame, "category", str::to_owned)?;
        let (ids, gpus) = (integers(frame, "dispatch_id")?, integers(frame, "gpu")?);
        let (queues, streams) = (integers(frame, "queue_id")?, integers(frame, "stream_id")?);
        let correlations = integers(frame, "correlation_id")?;
        let (starts, ends, valid) = (integers(frame, "start_ns")?, integers(frame, "end_ns")?, flags(frame, "valid")?);
        let unknown = self.names.index("unknown kernel");
        let other = self.kinds.index("other");
        let mut links = Vec::new();
        for (row, valid) in valid.iter().enumerate() {
            let Some(times) = self.times(starts.get(row), ends.get(row), valid) else { continue };
            let Some(gpu) = gpus.get(row) else {
                self.without_gpu += 1;
                continue;
            };
            let Some(id) = ids.get(row) else { continue };
            let lane = match (streams.get(row), queues.get(row)) {
                (Some(stream), _) => (gpu, Order::Streams, stream),
                (None, queue) => (gpu, Order::Queues, queue.unwrap_or(0)),
            };
            let at = |list: &[Option<u32>], otherwise| list.get(row).copied().flatten().unwrap_or(otherwise);
            let kind = u16::try_from(at(&kinds, other)).unwrap_or(0);
            let event = Event::one(times, id, at(&names, unknown), kind, at(&abouts, NO_NAME));
            self.add(lane, event);
            links.extend(correlations.get(row).map(|correlation| (id, correlation)));
        }
        links.sort_unstable();
        Ok(links)
    }

    fn copies(&mut self, frame: &DataFrame) -> Result<Vec<(i64, i64)>> {
        let names = self.names.of_column(frame, "direction", |direction| format!("{direction} copy"))?;
        let (ids, gpus) = (integers(frame, "copy_id")?, integers(frame, "gpu")?);
        let (bytes, streams) = (integers(frame, "bytes")?, integers(frame, "stream_id")?);
        let correlations = integers(frame, "correlation_id")?;
        let (starts, ends, valid) = (integers(frame, "start_ns")?, integers(frame, "end_ns")?, flags(frame, "valid")?);
        let kind = u16::try_from(self.kinds.index("copy")).unwrap_or(0);
        let unknown = self.names.index("copy");
        let mut links = Vec::new();
        for (row, valid) in valid.iter().enumerate() {
            let Some(times) = self.times(starts.get(row), ends.get(row), valid) else { continue };
            let Some(gpu) = gpus.get(row) else {
                self.without_gpu += 1;
                continue;
            };
            let Some(id) = ids.get(row) else { continue };
            let name = names.get(row).copied().flatten().unwrap_or(unknown);
            let about = bytes.get(row).map_or(NO_NAME, |bytes| self.names.index(&format!("{bytes} B")));
            self.add((gpu, Order::Copies, streams.get(row).unwrap_or(0)), Event::one(times, id, name, kind, about));
            links.extend(correlations.get(row).map(|correlation| (id, correlation)));
        }
        links.sort_unstable();
        Ok(links)
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

    fn finish(self, links: Vec<(i64, i64)>, copy_links: Vec<(i64, i64)>) -> Part {
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
        Part { lanes, names: self.names.into_list(), kinds: self.kinds.into_list(), links, copy_links, notes }
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

//! Operations on memory, and the lanes of GPUs.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::lanes::Lanes;
use super::process::ProcessWriter;
use super::rows::{Slice, Slices, integers, texts};
use super::sink::{Event, Sink, TrackContent, TrackFacts, Value, WorkKind};
use super::write::Arguments;

/// A track of lanes.
#[derive(Clone, Debug)]
pub(super) struct LaneFacts {
    pub kind: &'static str,
    pub name: String,
    pub parent: u64,
    pub order: i64,
    pub gpu: Option<i64>,
    /// Number of the queue or stream; `None` for notes.
    pub number: Option<(WorkKind, i64)>,
}

/// Shown text of a row: category and name.
pub(super) type Shown = (u32, u32);

impl<S: Sink> ProcessWriter<'_, S> {
    /// Operations on memory, by GPU: allocations, and scratch memory apart from them.
    pub(super) fn allocations(&mut self, frame: &DataFrame) -> Result<()> {
        let (all, gpus, bytes) = (Slices::of(frame)?, integers(frame, "gpu")?, integers(frame, "bytes")?);
        let correlations = integers(frame, "correlation_id")?;
        let (operations, levels) = (texts(frame, "operation")?, texts(frame, "level")?);
        let (allocation, scratch) = (self.texts.id("memory_allocation"), self.texts.id("scratch_memory"));
        let (corr_id, size) = (self.texts.id("corr_id"), self.texts.id("allocation_size"));
        let mut shown: Vec<(u32, u32)> = Vec::with_capacity(frame.height());
        let mut by_track: BTreeMap<(Option<i64>, bool), Vec<Slice>> = BTreeMap::new();
        for (row, (operation, level)) in izip!(operations.iter(), levels.iter()).enumerate() {
            let is_scratch = level == Some("SCRATCH");
            let (category, kind) =
                if is_scratch { (scratch, "SCRATCH_MEMORY") } else { (allocation, "MEMORY_ALLOCATION") };
            shown.push((category, self.texts.id(&format!("{kind}_{}", operation.unwrap_or("NONE")))));
            if let Some(slice) = all.get(row, self.omitted) {
                by_track.entry((gpus.get(row), is_scratch)).or_default().push(slice);
            }
        }
        let has_arguments = self.options.arguments != Arguments::None;
        for ((gpu, is_scratch), slices) in by_track {
            let (kind, name) = if is_scratch { ("scratch", "Scratch memory") } else { ("memory", "Memory operations") };
            let facts =
                LaneFacts { kind, name: name.to_owned(), parent: self.gpu_track(gpu), order: 51, gpu, number: None };
            self.lanes(&facts, slices, |slice, arguments| {
                let row = slice.row as usize;
                if has_arguments {
                    arguments.extend(correlations.get(row).map(|id| (corr_id, Value::Integer(id))));
                    arguments.extend(bytes.get(row).map(|bytes| (size, Value::Integer(bytes))));
                }
                let (category, name) = shown.get(row).copied().unwrap_or((allocation, allocation));
                (category, name)
            })?;
        }
        Ok(())
    }

    /// Writes slices that never nest, on as many lanes as they need.
    pub(super) fn lanes(
        &mut self,
        facts: &LaneFacts,
        mut slices: Vec<Slice>,
        mut of_row: impl FnMut(&Slice, &mut Vec<(u32, Value)>) -> Shown,
    ) -> Result<()> {
        slices.sort_unstable_by_key(|slice| (slice.start_ns, slice.end_ns, slice.row));
        let (mut lanes, mut tracks, mut arguments) = (Lanes::default(), Vec::new(), Vec::new());
        for slice in &slices {
            let end_ns = self.shown_end(slice.start_ns, slice.end_ns);
            let lane = lanes.place(slice.start_ns, end_ns);
            if lane == tracks.len() {
                tracks.push(self.lane(facts, lane)?);
            }
            arguments.clear();
            let (category, name) = of_row(slice, &mut arguments);
            self.add_times(slice.start_ns, slice.end_ns, &mut arguments);
            let Some(track) = tracks.get_mut(lane) else { continue };
            let event = Event { arguments: &arguments, ..Event::plain(category, name) };
            self.sink.begin(track, slice.start_ns, end_ns, &event, &self.texts)?;
            self.sink.end(track, end_ns)?;
        }
        tracks.into_iter().try_for_each(|track| self.sink.finish(track))
    }

    /// A lane of a track.
    pub(super) fn lane(&mut self, facts: &LaneFacts, lane: usize) -> Result<S::Track> {
        let numbers = [facts.gpu.unwrap_or(-1), facts.number.map_or(-1, |(_, number)| number)];
        let key = self.uuid(facts.kind, &numbers);
        let uuid = self.uuid(facts.kind, &[numbers.as_slice(), &[lane as i64]].concat());
        let place = match facts.number {
            Some((kind, number)) => TrackContent::Work { gpu: facts.gpu, kind, number, lane },
            None => TrackContent::Notes { gpu: facts.gpu },
        };
        let (name, parent, order) = (facts.name.as_str(), facts.parent, facts.order);
        self.sink.track(&TrackFacts { uuid, name, parent, order, lanes_of: Some(key), place })
    }
}

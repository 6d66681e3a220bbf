//! The tracks of GPUs: kernels, copies and operations on memory.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::flows::{Flows, Work};
use super::lanes::Lanes;
use super::process::ProcessWriter;
use super::rows::{Slice, Slices, integers, texts};
use super::sink::{Event, Place, Sink, TrackFacts, Value, WorkKind};
use super::write::{Arguments, By};
use crate::columns::frames::values_by_text;
use crate::columns::values::I64Values;

pub(super) const SIZES: [&str; 6] = ["workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z"];
/// Directions as rocprofv3 names the operations.
const COPIES: [(&str, &str); 5] = [
    ("H2D", "MEMORY_COPY_HOST_TO_DEVICE"),
    ("D2H", "MEMORY_COPY_DEVICE_TO_HOST"),
    ("D2D", "MEMORY_COPY_DEVICE_TO_DEVICE"),
    ("P2P", "MEMORY_COPY_DEVICE_TO_DEVICE"),
    ("H2H", "MEMORY_COPY_HOST_TO_HOST"),
];
/// Arguments of kernels by their columns; those of the second list only when they are not 0.
const KERNEL_ARGUMENTS: [(&str, &str); 7] = [
    ("corr_id", "correlation_id"),
    ("agent", "agent_id"),
    ("queue", "queue_id"),
    ("stream_ID", "stream_id"),
    ("kernel_id", "kernel_id"),
    ("dispatch_id", "dispatch_id"),
    ("tid", "tid"),
];
const KERNEL_SIZES: [(&str, &str); 2] = [("LDS_Block_Size", "lds_bytes"), ("Scratch_Size", "scratch_bytes")];
const REGISTERS: [(&str, &str); 3] =
    [("VGPR_Count", "vgpr"), ("Accum_VGPR_Count", "accum_vgpr"), ("SGPR_Count", "sgpr")];
const COPY_ARGUMENTS: [(&str, &str); 5] = [
    ("corr_id", "correlation_id"),
    ("src_agent", "src_agent_id"),
    ("dst_agent", "dst_agent_id"),
    ("copy_bytes", "bytes"),
    ("stream_ID", "stream_id"),
];

/// A track of lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneFacts<'a> {
    pub kind: &'a str,
    pub name: &'a str,
    pub parent: u64,
    pub order: i64,
    pub gpu: Option<i64>,
    /// Of the queue or stream; `None` for notes.
    pub number: Option<(WorkKind, i64)>,
}

/// What is shown of a row: category, name, and the flow that ends with it.
pub(super) type Shown = (u32, u32, Option<u64>);

impl<S: Sink> ProcessWriter<'_, S> {
    /// Kernels by queue or stream.
    pub(super) fn kernels(&mut self, frame: &DataFrame, symbols: &DataFrame, flows: &Flows) -> Result<()> {
        let (all, ids) = (Slices::of(frame)?, integers(frame, "dispatch_id")?);
        let by = if self.options.by == By::Queue { "queue_id" } else { "stream_id" };
        let (gpus, numbers) = (integers(frame, "gpu")?, integers(frame, by)?);
        let names = self.texts.of_column(frame.column("kernel_name")?)?;
        let mut arguments_of: Vec<(u32, I64Values, bool)> = Vec::new();
        for (place, (name, column)) in KERNEL_ARGUMENTS.iter().chain(&KERNEL_SIZES).enumerate() {
            arguments_of.push((self.texts.id(name), integers(frame, column)?, place >= KERNEL_ARGUMENTS.len()));
        }
        let sizes = SIZES.map(|name| integers(frame, name)).into_iter().collect::<Result<Vec<I64Values>>>()?;
        let size_names = SIZES.map(|name| self.texts.id(name));
        let totals = [self.texts.id("workgroup_size"), self.texts.id("grid_size")];
        let registers = self.registers(symbols)?;
        let kernel_ids = integers(frame, "kernel_id")?;
        let (category, unknown) = (self.texts.id("kernel_dispatch"), self.texts.id("kernel"));
        let mut by_track: BTreeMap<(Option<i64>, Option<i64>), Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            if let Some(slice) = all.get(row, self.omitted) {
                by_track.entry((gpus.get(row), numbers.get(row))).or_default().push(slice);
            }
        }
        let has_arguments = self.options.arguments != Arguments::None;
        for ((gpu, number), slices) in by_track {
            let title = if self.options.by == By::Queue { "Queue" } else { "Stream" };
            let name = number.map_or_else(|| title.to_owned(), |number| format!("{title} {number}"));
            let facts = LaneFacts {
                kind: "queue",
                name: &name,
                parent: self.gpu_track(gpu),
                order: 30,
                gpu,
                number: Some((WorkKind::Kernels, number.unwrap_or(-1))),
            };
            self.lanes(&facts, slices, |slice, arguments| {
                let row = slice.row as usize;
                if has_arguments {
                    for (name, values, is_left_out_if_zero) in &arguments_of {
                        let value = values.get(row).filter(|value| !is_left_out_if_zero || *value != 0);
                        arguments.extend(value.map(|value| (*name, Value::Integer(value))));
                    }
                    let of_symbol = kernel_ids.get(row).and_then(|id| registers.get(&id));
                    arguments.extend(of_symbol.into_iter().flatten());
                    let mut products = [1_i64; 2];
                    for (place, (name, values)) in size_names.iter().zip(&sizes).enumerate() {
                        let size = values.get(row).unwrap_or_default();
                        arguments.push((*name, Value::Integer(size)));
                        if let Some(product) = products.get_mut(place / 3) {
                            *product = product.saturating_mul(size);
                        }
                    }
                    arguments.extend(izip!(&totals, products).map(|(name, product)| (*name, Value::Integer(product))));
                }
                let flow = ids.get(row).and_then(|id| flows.ending(Work::Kernel, id));
                (category, names.get(row).copied().flatten().unwrap_or(unknown), flow)
            })?;
        }
        Ok(())
    }

    /// Registers of each kernel symbol, as arguments.
    fn registers(&mut self, symbols: &DataFrame) -> Result<BTreeMap<i64, Vec<(u32, Value)>>> {
        let ids = integers(symbols, "kernel_id")?;
        let mut all: BTreeMap<i64, Vec<(u32, Value)>> = BTreeMap::new();
        for (name, column) in REGISTERS {
            let name = self.texts.id(name);
            for (id, value) in izip!(ids.iter(), integers(symbols, column)?.iter()) {
                if let (Some(id), Some(value)) = (id, value.filter(|value| *value != 0)) {
                    all.entry(id).or_default().push((name, Value::Integer(value)));
                }
            }
        }
        Ok(all)
    }

    /// Copies of each GPU.
    pub(super) fn copies(&mut self, frame: &DataFrame, flows: &Flows) -> Result<()> {
        let (all, ids) = (Slices::of(frame)?, integers(frame, "copy_id")?);
        let (gpus, streams) = (integers(frame, "gpu")?, integers(frame, "stream_id")?);
        let mut arguments_of: Vec<(u32, I64Values)> = Vec::new();
        for (name, column) in COPY_ARGUMENTS {
            arguments_of.push((self.texts.id(name), integers(frame, column)?));
        }
        let unknown = self.texts.id("MEMORY_COPY_NONE");
        let operations = COPIES.map(|(direction, name)| (direction, self.texts.id(name)));
        let names = values_by_text(frame.column("direction")?, |direction| {
            operations.iter().find(|(known, _)| *known == direction).map_or(unknown, |(_, name)| *name)
        })?;
        let category = self.texts.id("memory_copy");
        let by_stream = self.options.by == By::Stream;
        let mut by_track: BTreeMap<(Option<i64>, Option<i64>), Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            if let Some(slice) = all.get(row, self.omitted) {
                let stream = by_stream.then(|| streams.get(row)).flatten();
                by_track.entry((gpus.get(row), stream)).or_default().push(slice);
            }
        }
        let has_arguments = self.options.arguments != Arguments::None;
        for ((gpu, stream), slices) in by_track {
            let parent = self.gpu_track(gpu);
            let number = Some((WorkKind::Copies, stream.unwrap_or(-1)));
            let facts = LaneFacts { kind: "copies", name: "Copies", parent, order: 50, gpu, number };
            self.lanes(&facts, slices, |slice, arguments| {
                let row = slice.row as usize;
                if has_arguments {
                    let values = arguments_of.iter().filter_map(|(name, values)| Some((*name, values.get(row)?)));
                    arguments.extend(values.map(|(name, value)| (name, Value::Integer(value))));
                }
                let flow = ids.get(row).and_then(|id| flows.ending(Work::Copy, id));
                (category, names.get(row).copied().flatten().unwrap_or(unknown), flow)
            })?;
        }
        self.copies_in_flight(frame)
    }

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
            let facts = LaneFacts { kind, name, parent: self.gpu_track(gpu), order: 51, gpu, number: None };
            self.lanes(&facts, slices, |slice, arguments| {
                let row = slice.row as usize;
                if has_arguments {
                    arguments.extend(correlations.get(row).map(|id| (corr_id, Value::Integer(id))));
                    arguments.extend(bytes.get(row).map(|bytes| (size, Value::Integer(bytes))));
                }
                let (category, name) = shown.get(row).copied().unwrap_or((allocation, allocation));
                (category, name, None)
            })?;
        }
        Ok(())
    }

    /// Slices that never nest, on as many lanes as they need.
    pub(super) fn lanes(
        &mut self,
        facts: &LaneFacts<'_>,
        mut slices: Vec<Slice>,
        mut of_row: impl FnMut(&Slice, &mut Vec<(u32, Value)>) -> Shown,
    ) -> Result<()> {
        slices.sort_unstable_by_key(|slice| (slice.start_ns, slice.end_ns, slice.row));
        let numbers = [facts.gpu.unwrap_or(-1), facts.number.map_or(-1, |(_, number)| number)];
        let key = self.uuid(facts.kind, &numbers);
        let (mut lanes, mut tracks, mut arguments) = (Lanes::default(), Vec::new(), Vec::new());
        for slice in &slices {
            let lane = lanes.place(slice.start_ns, slice.end_ns);
            if lane == tracks.len() {
                let uuid = self.uuid(facts.kind, &[numbers.as_slice(), &[lane as i64]].concat());
                let place = match facts.number {
                    Some((kind, number)) => Place::Work { gpu: facts.gpu, kind, number, lane },
                    None => Place::Notes { gpu: facts.gpu },
                };
                let (name, parent, order) = (facts.name, facts.parent, facts.order);
                tracks.push(self.sink.track(&TrackFacts { uuid, name, parent, order, lanes_of: Some(key), place })?);
            }
            arguments.clear();
            let (category, name, flow_end) = of_row(slice, &mut arguments);
            if self.options.arguments == Arguments::Rocprof {
                self.add_times(slice, &mut arguments);
            }
            let Some(track) = tracks.get_mut(lane) else { continue };
            let event = Event { category, name, arguments: &arguments, flows: &[], flow_end };
            self.sink.begin(track, slice.start_ns, slice.end_ns, &event, &self.texts)?;
            self.sink.end(track, slice.end_ns)?;
        }
        tracks.into_iter().try_for_each(|track| self.sink.finish(track))
    }
}

//! Kernels and copies. Rows are gathered first, because calls name what they launched, and written later.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;

use super::flows::{Flows, Work};
use super::gpus::LaneFacts;
use super::lanes::Lanes;
use super::process::ProcessWriter;
use super::repeated::{Repeated, Values};
use super::rows::{Slices, UNFINISHED, integers};
use super::runs::{First, Runs, Slice};
use super::sink::{self, Event, Sink, Value, WorkKind};
use super::write::{Arguments, By};
use wavesieve_tables::columns::frames::values_by_text;
use wavesieve_tables::columns::values::{BoolValues, I64Values};

/// Arguments of kernels that many have in common, and their columns.
const KERNEL_ARGUMENTS: [(&str, &str); 13] = [
    ("agent", "agent_id"),
    ("queue", "queue_id"),
    ("stream_ID", "stream_id"),
    ("kernel_id", "kernel_id"),
    ("tid", "tid"),
    ("LDS_Block_Size", "lds_bytes"),
    ("Scratch_Size", "scratch_bytes"),
    ("workgroup_x", "workgroup_x"),
    ("workgroup_y", "workgroup_y"),
    ("workgroup_z", "workgroup_z"),
    ("grid_x", "grid_x"),
    ("grid_y", "grid_y"),
    ("grid_z", "grid_z"),
];
/// Arguments of kernels that are left out if they are 0.
const UNLESS_0: [&str; 2] = ["LDS_Block_Size", "Scratch_Size"];
/// Places of the kernel id, and of the sizes of workgroups and grids, among them.
const KERNEL_ID: usize = 3;
const FIRST_SIZE: usize = 7;
const REGISTERS: [(&str, &str); 3] =
    [("VGPR_Count", "vgpr"), ("Accum_VGPR_Count", "accum_vgpr"), ("SGPR_Count", "sgpr")];
const COPY_ARGUMENTS: [(&str, &str); 5] = [
    ("src_agent", "src_agent_id"),
    ("dst_agent", "dst_agent_id"),
    ("copy_bytes", "bytes"),
    ("stream_ID", "stream_id"),
    ("tid", "tid"),
];
/// Directions as rocprofv3 names the operations.
const COPIES: [(&str, &str); 5] = [
    ("H2D", "MEMORY_COPY_HOST_TO_DEVICE"),
    ("D2H", "MEMORY_COPY_DEVICE_TO_HOST"),
    ("D2D", "MEMORY_COPY_DEVICE_TO_DEVICE"),
    ("P2P", "MEMORY_COPY_DEVICE_TO_DEVICE"),
    ("H2H", "MEMORY_COPY_HOST_TO_HOST"),
];

/// A GPU and one of its queues or streams.
type Lane = (Option<i64>, Option<i64>);

/// Work of one kind.
pub(super) struct GpuWork<const N: usize> {
    kind: Work,
    runs: Runs,
    places: BTreeMap<Lane, u32>,
    repeated: Repeated<N>,
    rows: u32,
}

/// Values that kernels have in common: those of the columns, and the number of the full name where the short one is shown.
const KERNEL_VALUES: usize = KERNEL_ARGUMENTS.len() + 1;

pub(super) type Kernels = GpuWork<KERNEL_VALUES>;
pub(super) type Copies = GpuWork<{ COPY_ARGUMENTS.len() }>;

impl<const N: usize> GpuWork<N> {
    pub(super) fn new(kind: Work) -> Self {
        Self { kind, runs: Runs::new(First::Shortest), places: BTreeMap::new(), repeated: Repeated::new(), rows: 0 }
    }
}

/// Columns that [`ProcessWriter::gather`] needs of a table.
struct Gathered<'a> {
    frame: &'a DataFrame,
    id: &'static str,
    number: Option<&'static str>,
    names: Vec<Option<u32>>,
    /// Numbers of the full names where others are shown.
    full_names: Vec<Option<u32>>,
    unknown: u32,
    category: u32,
}

/// Columns of kernels that are read.
pub(super) fn kernel_columns() -> Vec<&'static str> {
    let own = ["dispatch_id", "kernel_name", "short_name", "gpu", "correlation_id", "start_ns", "end_ns", "valid"];
    own.into_iter().chain(KERNEL_ARGUMENTS.map(|(_, column)| column)).collect()
}

/// Columns of copies that are read.
pub(super) fn copy_columns() -> Vec<&'static str> {
    let own = ["copy_id", "direction", "gpu", "correlation_id", "start_ns", "end_ns", "valid"];
    own.into_iter().chain(COPY_ARGUMENTS.map(|(_, column)| column)).collect()
}

impl<S: Sink> ProcessWriter<'_, S> {
    /// Gathers all kernels.
    pub(super) fn gather_kernels(&mut self, symbols: &DataFrame, flows: &mut Flows) -> Result<Kernels> {
        let mut kernels = Kernels::new(Work::Kernel);
        let registers = self.registers(symbols)?;
        let names = KERNEL_ARGUMENTS.map(|(name, _)| self.texts.id(name));
        let left_out = UNLESS_0.map(|name| self.texts.id(name));
        let totals = [self.texts.id("workgroup_size"), self.texts.id("grid_size")];
        let full_name = self.texts.id("kernel");
        let list = |values: &Values<KERNEL_VALUES>| {
            let mut list = Vec::new();
            let mut products = [1_i64; 2];
            for (place, (name, value)) in izip!(names, values.iter()).enumerate() {
                // Sizes are written three by three.
                let is_size = (FIRST_SIZE..KERNEL_ARGUMENTS.len()).contains(&place);
                let value = if is_size { Some(value.unwrap_or_default()) } else { value };
                let is_left_out = value == Some(0) && left_out.contains(&name);
                list.extend(value.filter(|_| !is_left_out).map(|value| (name, Value::Integer(value))));
                if let Some(product) = place.checked_sub(FIRST_SIZE).and_then(|size| products.get_mut(size / 3)) {
                    *product = product.saturating_mul(value.unwrap_or_default());
                }
            }
            let symbol = values.iter().nth(KERNEL_ID).flatten();
            list.extend(symbol.and_then(|id| registers.get(&id)).into_iter().flatten());
            list.extend(izip!(totals, products).map(|(name, product)| (name, Value::Integer(product))));
            let name = values.iter().nth(KERNEL_ARGUMENTS.len()).flatten();
            list.extend(name.and_then(|name| u32::try_from(name).ok()).map(|name| (full_name, Value::Text(name))));
            list
        };
        let by = if self.options.by == By::Queue { "queue_id" } else { "stream_id" };
        let (category, unknown) = (self.texts.id("kernel_dispatch"), self.texts.id("kernel"));
        let (trace, member) = (self.trace, self.member);
        trace.visit_rows(member, "kernels", &kernel_columns(), &mut |frame| {
            let mut names = self.texts.of_column(frame.column("kernel_name")?)?;
            let mut full_names = Vec::new();
            if self.options.are_names_short {
                full_names = std::mem::replace(&mut names, self.texts.of_column(frame.column("short_name")?)?);
            }
            let gathered =
                Gathered { frame, id: "dispatch_id", number: Some(by), names, full_names, unknown, category };
            self.gather(gathered, &KERNEL_ARGUMENTS, list, &mut kernels, flows)
        })?;
        Ok(kernels)
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

    /// Gathers all copies.
    pub(super) fn gather_copies(&mut self, flows: &mut Flows) -> Result<Copies> {
        let mut copies = Copies::new(Work::Copy);
        let names = COPY_ARGUMENTS.map(|(name, _)| self.texts.id(name));
        let list = |values: &Values<{ COPY_ARGUMENTS.len() }>| {
            let values = izip!(names, values.iter());
            values.filter_map(|(name, value)| Some((name, Value::Integer(value?)))).collect()
        };
        let (category, unknown) = (self.texts.id("memory_copy"), self.texts.id("MEMORY_COPY_NONE"));
        let operations = COPIES.map(|(direction, name)| (direction, self.texts.id(name)));
        let number = (self.options.by == By::Stream).then_some("stream_id");
        let (trace, member) = (self.trace, self.member);
        trace.visit_rows(member, "memory_copies", &copy_columns(), &mut |frame| {
            let names = values_by_text(frame.column("direction")?, |direction| {
                operations.iter().find(|(known, _)| *known == direction).map_or(unknown, |(_, name)| *name)
            })?;
            let full_names = Vec::new();
            let gathered = Gathered { frame, id: "copy_id", number, names, full_names, unknown, category };
            self.gather(gathered, &COPY_ARGUMENTS, list, &mut copies, flows)
        })?;
        Ok(copies)
    }

    /// Gathers the rows of a piece.
    fn gather<const N: usize>(
        &mut self,
        gathered: Gathered<'_>,
        arguments: &[(&str, &str)],
        list: impl Fn(&Values<N>) -> Vec<(u32, Value)>,
        work: &mut GpuWork<N>,
        flows: &mut Flows,
    ) -> Result<()> {
        let Gathered { frame, id, number, names, full_names, unknown, category } = gathered;
        self.saw_start(frame)?;
        let (all, ids) = (Slices::of(frame)?, integers(frame, id)?);
        let correlations = integers(frame, "correlation_id")?;
        let gpus = integers(frame, "gpu")?;
        let numbers = number.map(|name| integers(frame, name)).transpose()?;
        let valid = BoolValues::new(frame.column("valid")?.bool()?);
        let columns =
            arguments.iter().map(|(_, column)| integers(frame, column)).collect::<Result<Vec<I64Values>>>()?;
        let has_arguments = self.options.arguments != Arguments::None;
        let mut by_track: BTreeMap<u32, Vec<Slice>> = BTreeMap::new();
        let mut last: Option<(Lane, u32)> = None;
        for (row, valid) in valid.iter().enumerate() {
            let (order, slice) = (work.rows, all.get(row, self.omitted));
            work.rows = order.wrapping_add(1);
            let Some(slice) = slice else { continue };
            let (id, correlation_id) = (ids.get(row), correlations.get(row));
            if valid == Some(true) && slice.end_ns != UNFINISHED {
                self.last_ns = self.last_ns.max(slice.end_ns);
            }
            if let (Some(true), Some(id), Some(correlation_id)) = (valid, id, correlation_id) {
                flows.add_end(work.kind, correlation_id, id, slice.start_ns);
            }
            let place = (gpus.get(row), numbers.as_ref().and_then(|numbers| numbers.get(row)));
            let track = match last {
                Some((known, track)) if known == place => track,
                _ => {
                    let next = work.places.len() as u32;
                    *work.places.entry(place).or_insert(next)
                }
            };
            last = Some((place, track));
            let facts = if has_arguments {
                let values = Values::of(|column| match columns.get(column) {
                    Some(values) => values.get(row),
                    None => full_names.get(row).copied().flatten().map(i64::from),
                });
                work.repeated.number(values, &list)
            } else {
                0
            };
            let name = names.get(row).copied().flatten().unwrap_or(unknown);
            let slice = Slice::new(slice.start_ns, slice.end_ns, order).showing(category, name, facts);
            by_track.entry(track).or_default().push(slice.with_ids(id, correlation_id));
        }
        by_track.into_iter().try_for_each(|(track, mut rows)| work.runs.add(track, &mut rows))
    }

    /// Writes kernels by queue or stream.
    pub(super) fn kernels(&mut self, work: Kernels, flows: &mut Flows) -> Result<()> {
        let title = if self.options.by == By::Queue { "Queue" } else { "Stream" };
        self.write_work(work, flows, |number| LaneFacts {
            kind: "queue",
            name: number.map_or_else(|| title.to_owned(), |number| format!("{title} {number}")),
            parent: 0,
            order: 30,
            gpu: None,
            number: Some((WorkKind::Kernels, number.unwrap_or(-1))),
        })
    }

    /// Writes the copies of each GPU.
    pub(super) fn copies(&mut self, work: Copies, flows: &mut Flows) -> Result<()> {
        self.write_work(work, flows, |number| LaneFacts {
            kind: "copies",
            name: "Copies".to_owned(),
            parent: 0,
            order: 50,
            gpu: None,
            number: Some((WorkKind::Copies, number.unwrap_or(-1))),
        })
    }

    fn write_work<const N: usize>(
        &mut self,
        mut work: GpuWork<N>,
        flows: &mut Flows,
        facts: impl Fn(Option<i64>) -> LaneFacts,
    ) -> Result<()> {
        let id_name = self.texts.id(if work.kind == Work::Kernel { "dispatch_id" } else { "copy_id" });
        let corr_id = self.texts.id("corr_id");
        let has_arguments = self.options.arguments != Arguments::None;
        for ((gpu, number), track) in std::mem::take(&mut work.places) {
            let facts = LaneFacts { parent: self.gpu_track(gpu), gpu, ..facts(number) };
            let (mut lanes, mut tracks, mut arguments) = (Lanes::default(), Vec::new(), Vec::new());
            work.runs.visit(track, |row| {
                let end_ns = self.shown_end(row.start_ns, row.end_ns);
                let lane = lanes.place(row.start_ns, end_ns);
                if lane == tracks.len() {
                    tracks.push(self.lane(&facts, lane)?);
                }
                let Some(track) = tracks.get_mut(lane) else { return Ok(()) };
                arguments.clear();
                let mut repeated = sink::Repeated::default();
                if has_arguments {
                    arguments.extend(row.correlation_id().map(|id| (corr_id, Value::Integer(id))));
                    if work.kind == Work::Kernel {
                        arguments.extend(row.id().map(|id| (id_name, Value::Integer(id))));
                    }
                    repeated = sink::Repeated { number: row.facts, arguments: work.repeated.arguments(row.facts) };
                }
                self.add_times(row.start_ns, row.end_ns, &mut arguments);
                let flow_end = flows.ending(work.kind, row.correlation_id(), row.id());
                let (category, name) = (row.category, row.name);
                let event = Event { category, name, arguments: &arguments, repeated, flows: &[], flow_end };
                self.sink.begin(track, row.start_ns, end_ns, &event, &self.texts)?;
                self.sink.end(track, end_ns)
            })?;
            tracks.into_iter().try_for_each(|track| self.sink.finish(track))?;
        }
        Ok(())
    }
}

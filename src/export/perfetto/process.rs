//! The tracks of one process: its threads, and the queues, copies and counters of its GPUs.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use itertools::izip;
use polars::prelude::DataFrame;
use xxhash_rust::xxh3::xxh3_64;

use super::flows::Flows;
use super::lanes::{Lanes, nested};
use super::stream::{Described, Event, Merge, Stream, Track, Value};
use super::texts::Texts;
use super::write::{Arguments, Omitted};
use crate::columns::frames::collected;
use crate::columns::requests::{ProcessTables, Request};
use crate::columns::values::I64Values;
use crate::trace::TraceProcess;

/// The pid and the first tid of processes whose pid another one has; int32 in viewers.
const OTHER_PIDS: i64 = 10_000_000;
const SIZES: [&str; 6] = ["workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z"];
const COPIES: [(&str, &str); 5] = [
    ("H2D", "MEMORY_COPY_HOST_TO_DEVICE"),
    ("D2H", "MEMORY_COPY_DEVICE_TO_HOST"),
    ("D2D", "MEMORY_COPY_DEVICE_TO_DEVICE"),
    ("P2P", "MEMORY_COPY_DEVICE_TO_DEVICE"),
    ("H2H", "MEMORY_COPY_HOST_TO_HOST"),
];

/// What is read of a process.
pub(super) fn request() -> Request {
    let mut kernels = vec![
        "dispatch_id",
        "kernel_id",
        "kernel_name",
        "agent_id",
        "gpu",
        "queue_id",
        "stream_id",
        "tid",
        "correlation_id",
        "start_ns",
        "end_ns",
        "lds_bytes",
        "scratch_bytes",
    ];
    kernels.extend(SIZES);
    let of = |columns: &[&'static str]| columns.iter().copied().collect();
    Request::from([
        ("kernels", of(&kernels)),
        (
            "memory_copies",
            of(&[
                "copy_id",
                "direction",
                "src_agent_id",
                "dst_agent_id",
                "gpu",
                "bytes",
                "stream_id",
                "correlation_id",
                "start_ns",
                "end_ns",
            ]),
        ),
        ("regions", of(&["region_id", "domain", "name", "message", "tid", "correlation_id", "start_ns", "end_ns"])),
        ("marks", of(&["mark_id", "domain", "name", "message", "tid", "time_ns"])),
        ("launches", of(&["correlation_id", "kind", "target_id", "api_start_ns", "start_ns"])),
        ("counters", of(&["dispatch_id", "counter", "value"])),
        ("threads", of(&["tid", "name"])),
        ("samples", of(&["track", "name", "unit", "time_ns", "value"])),
        ("memory_live", of(&["level", "gpu", "time_ns", "live_bytes"])),
        ("idle_gaps", of(&["gpu", "start_ns", "end_ns", "cause"])),
        ("gpu_segments", of(&["gpu", "start_ns", "end_ns", "compute", "comm"])),
        ("queue_depths", of(&["gpu", "queue_id", "start_ns", "end_ns", "waiting"])),
        ("iterations", of(&["iteration", "phase", "start_ns", "end_ns"])),
        ("critical_path", of(&["kind", "name", "start_ns", "end_ns"])),
    ])
}

/// A process that is written.
pub(super) struct ProcessWriter<'a, 'b> {
    pub stream: &'a mut Stream<'b>,
    pub member: &'a TraceProcess,
    pub tables: &'a ProcessTables,
    pub texts: Texts,
    pub arguments: Arguments,
    /// How often its pid was used before.
    pub earlier: i64,
    pub omitted: &'a mut Omitted,
}

/// A slice before it is written, by its row.
#[derive(Clone, Copy)]
struct Slice {
    start_ns: i64,
    end_ns: i64,
    id: i64,
    row: usize,
}

impl ProcessWriter<'_, '_> {
    pub(super) fn uuid(&self, kind: &str, numbers: &[i64]) -> u64 {
        let guid = self.member.process.facts.guid.as_deref().unwrap_or_default();
        let text = format!("{guid} {} {kind} {numbers:?}", self.member.process.process);
        xxh3_64(text.as_bytes()).max(1)
    }

    fn pid(&self) -> i64 {
        let pid = self.member.process.facts.pid;
        let own = if pid > 0 { pid } else { 1 + self.member.process.process };
        (OTHER_PIDS * self.earlier + own) % i64::from(i32::MAX)
    }

    pub(super) fn table(&self, name: &str) -> Result<DataFrame> {
        Ok(collected(self.tables.get(name).with_context(|| format!("internal: {name} was not read"))?)?)
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// When a column is missing, or writing fails.
    pub(super) fn write(&mut self) -> Result<()> {
        let process = &self.member.process;
        let (facts, rank) = (&process.facts, process.rank);
        let program = facts.command.as_deref().and_then(|command| command.split_whitespace().next());
        let program = program.map(|program| program.rsplit('/').next().unwrap_or(program));
        let name = program.map_or_else(|| format!("rank {rank}"), |program| format!("rank {rank} · {program}"));
        let labels: Vec<String> = facts.hostname.iter().cloned().chain([format!("pid {}", facts.pid)]).collect();
        let (uuid, pid) = (self.uuid("process", &[]), self.pid());
        self.stream.process(uuid, pid, &name, &labels, rank)?;
        let regions = self.table("regions")?;
        let flows =
            Flows::new(&self.table("launches")?, &regions, self.uuid("flows", &[]), &mut self.omitted.skewed_flows)?;
        self.regions(&regions, &flows, pid)?;
        self.marks(pid)?;
        self.gpus(uuid, &flows)?;
        self.simple(uuid, "iterations", "Iterations", 1, &|phase, number| format!("iteration {number} {phase}"))?;
        self.simple(uuid, "critical_path", "Critical path", 2, &|name, _| name.to_owned())?;
        self.samples(uuid)
    }

    fn thread_id(&self, tid: i64) -> i64 {
        (OTHER_PIDS * self.earlier + tid.max(0)) % i64::from(i32::MAX)
    }

    /// API calls and ranges, a track a thread; what does not nest on it gets tracks of its own.
    fn regions(&mut self, frame: &DataFrame, flows: &Flows, pid: i64) -> Result<()> {
        let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let (starts, ends, ids) = (integers("start_ns")?, integers("end_ns")?, integers("region_id")?);
        let (tids, correlations) = (integers("tid")?, integers("correlation_id")?);
        let (domains, names) =
            (self.texts.of_column(frame.column("domain")?)?, self.texts.of_column(frame.column("name")?)?);
        let messages = frame.column("message")?.cast(&polars::prelude::DataType::String)?;
        let messages = messages.str()?;
        let thread_names = self.thread_names()?;
        let mut by_thread: BTreeMap<i64, Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            let (start, end) = (starts.get(row), ends.get(row));
            if let Some(slice) = self.slice(start, end, ids.get(row).unwrap_or_default(), row) {
                by_thread.entry(tids.get(row).unwrap_or(0)).or_default().push(slice);
            }
        }
        let categories: BTreeMap<u32, u32> = {
            let all: std::collections::BTreeSet<u32> = domains.iter().flatten().copied().collect();
            all.into_iter()
                .map(|domain| (domain, self.texts.id(&format!("{}_api", self.texts.text(domain).to_owned()))))
                .collect()
        };
        let (corr_id, other) = (self.texts.id("corr_id"), self.texts.id("other_api"));
        let (tid_text, operation) = (self.texts.id("tid"), self.texts.id("operation"));
        let mut starting = Vec::new();
        for (tid, mut slices) in by_thread {
            slices.sort_by_key(|slice| (slice.start_ns, std::cmp::Reverse(slice.end_ns), slice.id));
            let lanes = nested(slices.iter().map(|slice| (slice.start_ns, slice.end_ns)));
            let number = self.thread_id(tid);
            let name = thread_names.get(&tid).cloned().unwrap_or_else(|| format!("thread {tid}"));
            let thread = self.uuid("thread", &[tid]);
            self.stream.thread(thread, pid, number, &name, 10)?;
            let count = lanes.iter().copied().max().map_or(0, |lane| lane + 1);
            self.omitted.overlaps += lanes.iter().filter(|lane| **lane > 0).count() as u64;
            for lane in 0..count {
                let uuid = if lane == 0 { thread } else { self.uuid("thread lane", &[tid, lane as i64]) };
                if lane > 0 {
                    let name = format!("{name} overlap");
                    let (parent, merge) = (Some(self.uuid("process", &[])), Merge::ByKey(thread));
                    self.stream.describe(&Described { uuid, name: &name, parent, merge, rank: 11, unit: None })?;
                }
                let mut track = self.stream.start(uuid)?;
                let mut open: Vec<i64> = Vec::new();
                for (slice, _) in slices.iter().zip(&lanes).filter(|(_, of)| **of == lane) {
                    while let Some(ends_ns) = open.pop_if(|ends_ns| *ends_ns <= slice.start_ns) {
                        self.stream.end(&mut track, ends_ns)?;
                    }
                    let domain = domains.get(slice.row).copied().flatten();
                    let name = match messages.get(slice.row).filter(|message| !message.is_empty()) {
                        Some(message) => self.texts.id(message),
                        None => names.get(slice.row).copied().flatten().unwrap_or(other),
                    };
                    starting.clear();
                    flows.starting(correlations.get(slice.row), slice.start_ns, &mut starting);
                    let mut arguments = Vec::new();
                    if self.arguments != Arguments::None {
                        arguments.extend(correlations.get(slice.row).map(|id| (corr_id, Value::Integer(id))));
                        arguments.push((tid_text, Value::Integer(tid)));
                    }
                    if self.arguments == Arguments::Rocprof {
                        let function = names.get(slice.row).copied().flatten();
                        arguments.extend(function.map(|function| (operation, Value::Text(function))));
                    }
                    self.add_times(slice, &mut arguments);
                    let category = domain.and_then(|domain| categories.get(&domain)).copied().unwrap_or(other);
                    let event = Event { category, name, arguments: &arguments, flows: &starting, flow_end: None };
                    self.stream.begin(&mut track, slice.start_ns, &event, &self.texts)?;
                    open.push(slice.end_ns);
                }
                while let Some(ends_ns) = open.pop() {
                    self.stream.end(&mut track, ends_ns)?;
                }
            }
        }
        Ok(())
    }

    fn thread_names(&self) -> Result<BTreeMap<i64, String>> {
        let frame = self.table("threads")?;
        let tids = I64Values::new(frame.column("tid")?.i64()?);
        let names = frame.column("name")?.cast(&polars::prelude::DataType::String)?;
        let rows = izip!(tids.iter(), names.str()?.iter());
        Ok(rows.filter_map(|(tid, name)| Some((tid?, name?.to_owned()))).collect())
    }

    /// A row as a slice: without a start it cannot be shown, and one that ends before it starts has no length.
    fn slice(&mut self, start: Option<i64>, end: Option<i64>, id: i64, row: usize) -> Option<Slice> {
        let Some(start_ns) = start.filter(|start_ns| *start_ns > 0) else {
            self.omitted.without_start += 1;
            return None;
        };
        let end_ns = end.unwrap_or(start_ns);
        self.omitted.bad_ends += u64::from(end_ns < start_ns);
        Some(Slice { start_ns, end_ns: end_ns.max(start_ns), id, row })
    }

    /// The times as arguments, which conversions to JSON keep in nanoseconds.
    fn add_times(&mut self, slice: &Slice, arguments: &mut Vec<(u32, Value)>) {
        if self.arguments == Arguments::Rocprof {
            let times =
                [("begin_ns", slice.start_ns), ("end_ns", slice.end_ns), ("delta_ns", slice.end_ns - slice.start_ns)];
            for (name, value) in times {
                arguments.push((self.texts.id(name), Value::Integer(value)));
            }
        }
    }

    /// Marks of each thread as instants.
    fn marks(&mut self, _pid: i64) -> Result<()> {
        let frame = self.table("marks")?;
        if frame.height() == 0 {
            return Ok(());
        }
        let times = I64Values::new(frame.column("time_ns")?.i64()?);
        let names = self.texts.of_column(frame.column("name")?)?;
        let messages = self.texts.of_column(frame.column("message")?)?;
        let (category, unknown) = (self.texts.id("marker_api"), self.texts.id("mark"));
        let mut rows: Vec<(i64, usize)> =
            times.iter().enumerate().filter_map(|(row, time)| Some((time.filter(|time| *time > 0)?, row))).collect();
        rows.sort_unstable();
        let uuid = self.uuid("marks", &[]);
        let parent = Some(self.uuid("process", &[]));
        self.stream.describe(&Described { uuid, name: "Marks", parent, merge: Merge::Never, rank: 5, unit: None })?;
        let mut track = self.stream.start(uuid)?;
        for (at_ns, row) in rows {
            let of = |all: &[Option<u32>]| all.get(row).copied().flatten();
            let name = of(&messages).or_else(|| of(&names)).unwrap_or(unknown);
            let event = Event { category, name, arguments: &[], flows: &[], flow_end: None };
            self.stream.instant(&mut track, at_ns, &event, &self.texts)?;
        }
        Ok(())
    }

    /// Queues, copies, idle time and counters of each GPU.
    fn gpus(&mut self, process: u64, flows: &Flows) -> Result<()> {
        let mut described: BTreeMap<i64, u64> = BTreeMap::new();
        let facts = &self.member.process.facts;
        for agent in facts.agents.iter().filter(|agent| agent.is_gpu()) {
            let Some(gpu) = self.member.process.gpus.get(&agent.agent_id).map(|gpu| gpu.gpu) else { continue };
            let name = format!("GPU {gpu} · {} (agent {})", agent.name, agent.agent_id);
            let uuid = self.uuid("gpu", &[gpu]);
            let rank = 20 + gpu;
            self.stream.describe(&Described {
                uuid,
                name: &name,
                parent: Some(process),
                merge: Merge::Never,
                rank,
                unit: None,
            })?;
            described.insert(gpu, uuid);
        }
        let parent = |gpu: Option<i64>| gpu.and_then(|gpu| described.get(&gpu)).copied().unwrap_or(process);
        self.kernels(&parent, flows)?;
        self.copies(&parent, flows)?;
        self.idle(&parent)?;
        self.exposed_communication(&parent)?;
        self.depths(&parent)?;
        self.memory(&parent)?;
        self.counters(&parent)
    }

    fn kernels(&mut self, parent: &dyn Fn(Option<i64>) -> u64, flows: &Flows) -> Result<()> {
        let frame = self.table("kernels")?;
        let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let (starts, ends, ids) = (integers("start_ns")?, integers("end_ns")?, integers("dispatch_id")?);
        let (gpus, queues) = (integers("gpu")?, integers("queue_id")?);
        let names = self.texts.of_column(frame.column("kernel_name")?)?;
        let plain = [
            ("corr_id", "correlation_id"),
            ("agent", "agent_id"),
            ("queue", "queue_id"),
            ("stream_ID", "stream_id"),
            ("kernel_id", "kernel_id"),
            ("dispatch_id", "dispatch_id"),
            ("tid", "tid"),
        ];
        let nonzero = [("LDS_Block_Size", "lds_bytes"), ("Scratch_Size", "scratch_bytes")];
        let mut arguments_of: Vec<(u32, I64Values, bool)> = Vec::new();
        for (place, (name, column)) in plain.iter().chain(&nonzero).enumerate() {
            arguments_of.push((self.texts.id(name), integers(column)?, place >= plain.len()));
        }
        let sizes = SIZES.map(integers).into_iter().collect::<Result<Vec<I64Values>>>()?;
        let size_names = SIZES.map(|name| self.texts.id(name));
        let totals = [self.texts.id("workgroup_size"), self.texts.id("grid_size")];
        let (category, unknown) = (self.texts.id("kernel_dispatch"), self.texts.id("kernel"));
        let mut by_queue: BTreeMap<(Option<i64>, Option<i64>), Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            if let Some(slice) = self.slice(starts.get(row), ends.get(row), ids.get(row).unwrap_or_default(), row) {
                by_queue.entry((gpus.get(row), queues.get(row))).or_default().push(slice);
            }
        }
        let mut arguments = Vec::new();
        for ((gpu, queue), slices) in by_queue {
            let name = queue.map_or_else(|| "Queue".to_owned(), |queue| format!("Queue {queue}"));
            let numbers = [gpu.unwrap_or(-1), queue.unwrap_or(-1)];
            let of_row = |writer: &mut Self, slice: &Slice, arguments: &mut Vec<(u32, Value)>| {
                let row = slice.row;
                if writer.arguments != Arguments::None {
                    for (name, values, has_zeros_left_out) in &arguments_of {
                        let value = values.get(row).filter(|value| !has_zeros_left_out || *value != 0);
                        arguments.extend(value.map(|value| (*name, Value::Integer(value))));
                    }
                    let mut products = [1_i64; 2];
                    for (place, (name, values)) in size_names.iter().zip(&sizes).enumerate() {
                        let size = values.get(row).unwrap_or_default();
                        arguments.push((*name, Value::Integer(size)));
                        if let Some(product) = products.get_mut(place / 3) {
                            *product = product.saturating_mul(size);
                        }
                    }
                    arguments
                        .extend(totals.iter().zip(products).map(|(name, product)| (*name, Value::Integer(product))));
                }
                (category, names.get(row).copied().flatten().unwrap_or(unknown), flows.kernel(slice.id))
            };
            self.lanes("queue", &name, parent(gpu), 30, &numbers, slices, &mut arguments, of_row)?;
        }
        Ok(())
    }

    fn copies(&mut self, parent: &dyn Fn(Option<i64>) -> u64, flows: &Flows) -> Result<()> {
        let frame = self.table("memory_copies")?;
        let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let (starts, ends, ids) = (integers("start_ns")?, integers("end_ns")?, integers("copy_id")?);
        let gpus = integers("gpu")?;
        let directions = frame.column("direction")?.cast(&polars::prelude::DataType::String)?;
        let directions = directions.str()?;
        let columns = [
            ("corr_id", "correlation_id"),
            ("src_agent", "src_agent_id"),
            ("dst_agent", "dst_agent_id"),
            ("copy_bytes", "bytes"),
            ("stream_ID", "stream_id"),
        ];
        let mut arguments_of: Vec<(u32, I64Values)> = Vec::new();
        for (name, column) in columns {
            arguments_of.push((self.texts.id(name), integers(column)?));
        }
        let names: Vec<u32> = directions
            .iter()
            .map(|direction| {
                let known = COPIES.iter().find(|(known, _)| Some(*known) == direction);
                self.texts.id(known.map_or("MEMORY_COPY_NONE", |(_, name)| name))
            })
            .collect();
        let category = self.texts.id("memory_copy");
        let mut by_gpu: BTreeMap<Option<i64>, Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            if let Some(slice) = self.slice(starts.get(row), ends.get(row), ids.get(row).unwrap_or_default(), row) {
                by_gpu.entry(gpus.get(row)).or_default().push(slice);
            }
        }
        let mut arguments = Vec::new();
        for (gpu, slices) in by_gpu {
            let of_row = |writer: &mut Self, slice: &Slice, arguments: &mut Vec<(u32, Value)>| {
                if writer.arguments != Arguments::None {
                    for (name, values) in &arguments_of {
                        arguments.extend(values.get(slice.row).map(|value| (*name, Value::Integer(value))));
                    }
                }
                (category, names.get(slice.row).copied().unwrap_or(category), flows.copy(slice.id))
            };
            self.lanes("copies", "Copies", parent(gpu), 50, &[gpu.unwrap_or(-1)], slices, &mut arguments, of_row)?;
        }
        Ok(())
    }

    /// Slices that never nest on as many lanes as they need, which viewers draw as one track.
    #[expect(clippy::too_many_arguments, reason = "the facts of one track")]
    fn lanes(
        &mut self,
        kind: &str,
        name: &str,
        parent: u64,
        rank: i64,
        numbers: &[i64],
        mut slices: Vec<Slice>,
        arguments: &mut Vec<(u32, Value)>,
        of_row: impl Fn(&mut Self, &Slice, &mut Vec<(u32, Value)>) -> (u32, u32, Option<u64>),
    ) -> Result<()> {
        slices.sort_by_key(|slice| (slice.start_ns, slice.end_ns, slice.id));
        let key = self.uuid(kind, numbers);
        let (mut lanes, mut tracks): (Lanes, Vec<Track>) = Default::default();
        for slice in &slices {
            let lane = lanes.place(slice.start_ns, slice.end_ns);
            if lane == tracks.len() {
                let uuid = self.uuid(kind, &[numbers, &[lane as i64]].concat());
                let merge = Merge::ByKey(key);
                self.stream.describe(&Described { uuid, name, parent: Some(parent), merge, rank, unit: None })?;
                tracks.push(self.stream.start(uuid)?);
            }
            arguments.clear();
            let (category, name, flow_end) = of_row(self, slice, arguments);
            self.add_times(slice, arguments);
            let Some(track) = tracks.get_mut(lane) else { continue };
            let event = Event { category, name, arguments, flows: &[], flow_end };
            self.stream.begin(track, slice.start_ns, &event, &self.texts)?;
            self.stream.end(track, slice.end_ns)?;
        }
        Ok(())
    }

    /// Idle time of each GPU by its cause.
    fn idle(&mut self, parent: &dyn Fn(Option<i64>) -> u64) -> Result<()> {
        let frame = self.table("idle_gaps")?;
        let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let (gpus, starts, ends) = (integers("gpu")?, integers("start_ns")?, integers("end_ns")?);
        let causes = self.texts.of_column(frame.column("cause")?)?;
        let category = self.texts.id("idle");
        let mut by_gpu: BTreeMap<Option<i64>, Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            if let Some(slice) = self.slice(starts.get(row), ends.get(row), row as i64, row) {
                by_gpu.entry(gpus.get(row)).or_default().push(slice);
            }
        }
        let mut arguments = Vec::new();
        for (gpu, slices) in by_gpu {
            let of_row = |_: &mut Self, slice: &Slice, _: &mut Vec<(u32, Value)>| {
                (category, causes.get(slice.row).copied().flatten().unwrap_or(category), None)
            };
            self.lanes("idle", "Idle by cause", parent(gpu), 60, &[gpu.unwrap_or(-1)], slices, &mut arguments, of_row)?;
        }
        Ok(())
    }

    /// Time in which a GPU communicates and computes nothing, in one piece where segments follow each other.
    fn exposed_communication(&mut self, parent: &dyn Fn(Option<i64>) -> u64) -> Result<()> {
        let frame = self.table("gpu_segments")?;
        let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let (gpus, starts, ends) = (integers("gpu")?, integers("start_ns")?, integers("end_ns")?);
        let (compute, comm) = (integers("compute")?, integers("comm")?);
        let mut by_gpu: BTreeMap<Option<i64>, Vec<Slice>> = BTreeMap::new();
        for row in 0..frame.height() {
            let is_exposed = comm.get(row).unwrap_or_default() > 0 && compute.get(row).unwrap_or_default() == 0;
            if !is_exposed {
                continue;
            }
            let Some(slice) = self.slice(starts.get(row), ends.get(row), row as i64, row) else { continue };
            let slices = by_gpu.entry(gpus.get(row)).or_default();
            match slices.last_mut().filter(|last| last.end_ns == slice.start_ns) {
                Some(last) => last.end_ns = slice.end_ns,
                None => slices.push(slice),
            }
        }
        let name = self.texts.id("exposed communication");
        for (gpu, slices) in by_gpu {
            let of_row = |_: &mut Self, _: &Slice, _: &mut Vec<(u32, Value)>| (name, name, None);
            let numbers = [gpu.unwrap_or(-1)];
            self.lanes("exposed", "Exposed communication", parent(gpu), 61, &numbers, slices, &mut Vec::new(), of_row)?;
        }
        Ok(())
    }

    /// A table of slices of the whole process on a track of its own.
    fn simple(
        &mut self,
        process: u64,
        table: &str,
        title: &str,
        rank: i64,
        name: &dyn Fn(&str, usize) -> String,
    ) -> Result<()> {
        let frame = self.table(table)?;
        let (starts, ends) =
            (I64Values::new(frame.column("start_ns")?.i64()?), I64Values::new(frame.column("end_ns")?.i64()?));
        let text = |column: &str| frame.column(column)?.cast(&polars::prelude::DataType::String);
        let first = text(if table == "iterations" { "phase" } else { "kind" })?;
        let second = text(if table == "iterations" { "phase" } else { "name" })?;
        let category = self.texts.id(table);
        let mut slices = Vec::new();
        let mut names = Vec::new();
        for (row, (kind, own)) in izip!(first.str()?.iter(), second.str()?.iter()).enumerate() {
            let (kind, own) = (kind.unwrap_or_default(), own.unwrap_or_default());
            let shown =
                if table == "iterations" || own.is_empty() { kind.to_owned() } else { format!("{kind}: {own}") };
            names.push(self.texts.id(&name(&shown, row)));
            slices.extend(self.slice(starts.get(row), ends.get(row), row as i64, row));
        }
        let of_row = |_: &mut Self, slice: &Slice, _: &mut Vec<(u32, Value)>| {
            (category, names.get(slice.row).copied().unwrap_or(category), None)
        };
        self.lanes(table, title, process, rank, &[], slices, &mut Vec::new(), of_row)
    }
}

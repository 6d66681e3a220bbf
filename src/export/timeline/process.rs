//! The tracks of one process, table after table, so that few tables are in memory at a time.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow};
use polars::prelude::DataFrame;
use xxhash_rust::xxh3::xxh3_64;

use super::flows::Flows;
use super::gpus::SIZES;
use super::rows::{Slice, integers};
use super::sink::{Place, ProcessFacts, Sink, TrackFacts, Value};
use super::texts::Texts;
use super::write::{Omitted, Options, Tracks};
use crate::columns::frames::collected;
use crate::columns::requests::Request;
use crate::trace::{Trace, TraceProcess};

/// The pid and the first tid of processes whose pid another one has; int32 in viewers.
const OTHER_PIDS: i64 = 10_000_000;

/// A finding as it is shown on a time line.
#[derive(Clone, Debug, Default)]
pub(crate) struct FindingText {
    /// The rank it is about; `None` is all.
    pub rank: Option<i64>,
    pub title: String,
    pub priority: String,
    pub explanation: String,
    pub advice: String,
}

/// Findings of the trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub texts: Vec<FindingText>,
}

/// A process that is written.
pub(super) struct ProcessWriter<'a, S> {
    pub sink: &'a mut S,
    pub trace: &'a Trace,
    pub member: &'a TraceProcess,
    pub texts: Texts,
    pub options: &'a Options,
    pub findings: &'a Findings,
    /// How often its pid was used before.
    pub earlier: i64,
    pub omitted: &'a mut Omitted,
    pub gpus: BTreeMap<i64, u64>,
    pub flows: Flows,
    /// Start of the first event.
    pub first_ns: Option<i64>,
}

impl<S: Sink> ProcessWriter<'_, S> {
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

    pub(super) fn thread_id(&self, tid: i64) -> i64 {
        (OTHER_PIDS * self.earlier + tid.max(0)) % i64::from(i32::MAX)
    }

    /// The track that work of a GPU is under; that of the process if the GPU is not known.
    pub(super) fn gpu_track(&self, gpu: Option<i64>) -> u64 {
        gpu.and_then(|gpu| self.gpus.get(&gpu)).copied().unwrap_or_else(|| self.uuid("process", &[]))
    }

    /// A track of the process for what was found out about it.
    pub(super) fn notes(&mut self, kind: &str, name: &str, order: i64) -> Result<S::Track> {
        let (uuid, parent) = (self.uuid(kind, &[]), self.uuid("process", &[]));
        self.sink.track(&TrackFacts { uuid, name, parent, order, lanes_of: None, place: Place::Notes { gpu: None } })
    }

    /// The times as arguments, which conversions to JSON keep in nanoseconds.
    pub(super) fn add_times(&mut self, slice: &Slice, arguments: &mut Vec<(u32, Value)>) {
        let times =
            [("begin_ns", slice.start_ns), ("end_ns", slice.end_ns), ("delta_ns", slice.end_ns - slice.start_ns)];
        for (name, value) in times {
            arguments.push((self.texts.id(name), Value::Integer(value)));
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// When a column is missing, or writing fails.
    pub(super) fn write(&mut self) -> Result<()> {
        self.describe()?;
        let mut first = self.read(first_request(self.options.tracks))?;
        let (trace, member) = (self.trace, self.member);
        // The next tables are read while the first are written.
        let next = std::thread::scope(|scope| {
            let next = scope.spawn(|| read(trace, member, work_request()));
            self.calls(&mut first)?;
            next.join().map_err(|_| anyhow!("internal: a reader of tables failed"))?
        });
        let flows = std::mem::take(&mut self.flows);
        self.work(&mut next?, &flows)?;
        self.findings()
    }

    /// The tracks of threads, and what analyses give.
    fn calls(&mut self, tables: &mut Read) -> Result<()> {
        let (regions, threads) = (tables.take("regions")?, tables.take("threads")?);
        self.flows = Flows::new(&tables.take("launches")?, &regions, self.uuid("flows", &[]), self.omitted)?;
        self.saw_start(&regions)?;
        let flows = std::mem::take(&mut self.flows);
        self.regions(&regions, &threads, &flows)?;
        self.flows = flows;
        drop(regions);
        self.marks(&tables.take("marks")?)?;
        if self.options.tracks != Tracks::Recorded {
            self.idle(&tables.take("idle_gaps")?)?;
            self.exposed_communication(&tables.take("gpu_segments")?)?;
            self.depths(&tables.take("queue_depths")?)?;
            self.iterations(&tables.take("iterations")?)?;
        }
        if self.options.tracks == Tracks::All {
            self.critical_path(&tables.take("critical_path")?)?;
        }
        Ok(())
    }

    /// The tracks of GPUs, and counters.
    fn work(&mut self, tables: &mut Read, flows: &Flows) -> Result<()> {
        let kernels = tables.take("kernels")?;
        self.saw_start(&kernels)?;
        self.kernels(&kernels, &tables.take("kernel_symbols")?, flows)?;
        drop(kernels);
        self.counters(&tables.take("counters")?, &tables.take("counter_dispatches")?)?;
        self.copies(&tables.take("memory_copies")?, flows)?;
        self.allocations(&tables.take("memory_allocations")?)?;
        self.memory(&tables.take("memory_live")?)?;
        self.samples(&tables.take("samples")?)
    }

    /// Keeps the first start of a table.
    fn saw_start(&mut self, frame: &DataFrame) -> Result<()> {
        let first = integers(frame, "start_ns")?.iter().flatten().filter(|start_ns| *start_ns > 0).min();
        self.first_ns = self.first_ns.into_iter().chain(first).min();
        Ok(())
    }

    /// The process and its GPUs.
    fn describe(&mut self) -> Result<()> {
        let process = &self.member.process;
        let program = process.facts.command.as_deref().and_then(|command| command.split_whitespace().next());
        let program = program.map(|program| program.rsplit('/').next().unwrap_or(program));
        let rank = process.rank;
        let name = program.map_or_else(|| format!("rank {rank}"), |program| format!("rank {rank} · {program}"));
        let uuid = self.uuid("process", &[]);
        self.sink.process(&ProcessFacts { uuid, pid: self.pid(), name, process })?;
        for agent in process.facts.agents.iter().filter(|agent| agent.is_gpu()) {
            let Some(gpu) = process.gpus.get(&agent.agent_id).map(|gpu| gpu.gpu) else { continue };
            let name = format!("GPU {gpu} · {} (agent {})", agent.name, agent.agent_id);
            let (parent, place) = (uuid, Place::Gpu { gpu });
            let uuid = self.uuid("gpu", &[gpu]);
            self.sink.group(&TrackFacts { uuid, name: &name, parent, order: 20 + gpu, lanes_of: None, place })?;
            self.gpus.insert(gpu, uuid);
        }
        Ok(())
    }

    fn read(&self, request: Request) -> Result<Read> {
        read(self.trace, self.member, request)
    }
}

fn read(trace: &Trace, member: &TraceProcess, request: Request) -> Result<Read> {
    let mut read = Read::default();
    for (name, frame) in trace.process_frames(member, &request)? {
        read.0.insert(name, collected(&frame)?);
    }
    Ok(read)
}

/// Tables that were read.
#[derive(Default)]
struct Read(BTreeMap<&'static str, DataFrame>);

impl Read {
    fn take(&mut self, name: &str) -> Result<DataFrame> {
        self.0.remove(name).with_context(|| format!("internal: {name} was not read"))
    }
}

fn request(tables: &[(&'static str, &[&'static str])]) -> Request {
    tables.iter().map(|(table, columns)| (*table, columns.iter().copied().collect())).collect()
}

/// What is read first: calls with what they launched, and what analyses give, which need the same tables.
fn first_request(tracks: Tracks) -> Request {
    let mut all: Vec<(&'static str, &[&'static str])> = vec![
        ("regions", &["domain", "name", "message", "tid", "correlation_id", "start_ns", "end_ns"]),
        ("marks", &["name", "message", "time_ns"]),
        ("threads", &["tid", "name"]),
        ("launches", &["correlation_id", "kind", "target_id", "api_start_ns", "start_ns"]),
    ];
    if tracks != Tracks::Recorded {
        all.extend([
            ("idle_gaps", &["gpu", "start_ns", "end_ns", "cause"] as &[&'static str]),
            ("gpu_segments", &["gpu", "start_ns", "end_ns", "compute", "comm"]),
            ("queue_depths", &["gpu", "queue_id", "start_ns", "end_ns", "waiting"]),
            ("iterations", &["iteration", "phase", "start_ns", "end_ns"]),
        ]);
    }
    if tracks == Tracks::All {
        all.push(("critical_path", &["kind", "name", "start_ns", "end_ns"]));
    }
    request(&all)
}

fn work_request() -> Request {
    let kernels = [
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
    let copies = [
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
    ];
    request(&[
        ("kernels", &[kernels.as_slice(), &SIZES].concat()),
        ("kernel_symbols", &["kernel_id", "vgpr", "accum_vgpr", "sgpr"]),
        ("counters", &["pass", "dispatch_id", "counter", "value"]),
        ("counter_dispatches", &["pass", "dispatch_id", "gpu", "start_ns", "end_ns"]),
        ("memory_copies", &copies),
        ("memory_allocations", &["operation", "level", "gpu", "bytes", "correlation_id", "start_ns", "end_ns"]),
        ("memory_live", &["level", "gpu", "time_ns", "live_bytes"]),
        ("samples", &["track", "name", "unit", "time_ns", "value"]),
    ])
}

//! The tracks of one process, table after table, so that few tables are in memory at a time.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use polars::prelude::DataFrame;
use xxhash_rust::xxh3::xxh3_64;

use super::flows::Flows;
use super::rows::{UNFINISHED, integers};
use super::sink::{ProcessFacts, Sink, TrackContent, TrackFacts, Value};
use super::texts::Texts;
use super::write::{Arguments, Omitted, Options, Tracks};
use wavesieve_model::schema;
use wavesieve_tables::columns::frames::collected;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Offset of the pid and of the tids of processes whose pid another one has. Viewers store both as int32.
const OTHER_PIDS: i64 = 10_000_000;

/// A finding as it is shown on a time line.
#[derive(Clone, Debug, Default)]
pub struct FindingText {
    /// The rank it is about; `None` is all.
    pub rank: Option<i64>,
    pub title: String,
    pub priority: String,
    pub explanation: String,
    pub advice: String,
}

/// Findings of the trace.
#[derive(Clone, Debug, Default)]
pub struct Findings {
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
    /// The window that slices are cut at.
    pub cut_at: (Option<i64>, Option<i64>),
    /// Start of the first event.
    pub first_ns: Option<i64>,
    /// End of the last event with valid times.
    pub last_ns: i64,
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
        self.apart(own)
    }

    pub(super) fn thread_id(&self, tid: i64) -> i64 {
        self.apart(tid.max(0))
    }

    /// The id of a process or thread, other than that in earlier processes of this pid.
    fn apart(&self, id: i64) -> i64 {
        let limit = i64::from(i32::MAX);
        (OTHER_PIDS * self.earlier + id % limit) % limit
    }

    /// The parent track of the work of a GPU; the track of the process if the GPU is not known.
    pub(super) fn gpu_track(&self, gpu: Option<i64>) -> u64 {
        gpu.and_then(|gpu| self.gpus.get(&gpu)).copied().unwrap_or_else(|| self.uuid("process", &[]))
    }

    /// Starts a track of the process for notes about it.
    pub(super) fn notes(&mut self, kind: &str, name: &str, order: i64) -> Result<S::Track> {
        let (uuid, parent) = (self.uuid(kind, &[]), self.uuid("process", &[]));
        self.sink.track(&TrackFacts {
            uuid,
            name,
            parent,
            order,
            lanes_of: None,
            place: TrackContent::Notes { gpu: None },
        })
    }

    /// The end that a slice is shown with: the last end of the process if it has none, and never before its start.
    pub(super) fn shown_end(&self, start_ns: i64, end_ns: i64) -> i64 {
        let end_ns = if end_ns == UNFINISHED { self.last_ns } else { end_ns };
        end_ns.max(start_ns)
    }

    /// Adds arguments about the times: nanoseconds, which conversions to JSON keep, and differences from the recorded
    /// times.
    pub(super) fn add_times(&mut self, start_ns: i64, end_ns: i64, arguments: &mut Vec<(u32, Value)>) {
        if self.options.arguments == Arguments::None {
            return;
        }
        let shown_ns = self.shown_end(start_ns, end_ns);
        if self.options.arguments == Arguments::Rocprof {
            let times = [("begin_ns", start_ns), ("end_ns", shown_ns), ("delta_ns", shown_ns.saturating_sub(start_ns))];
            for (name, value) in times {
                arguments.push((self.texts.id(name), Value::Integer(value)));
            }
        }
        let (from, to) = self.cut_at;
        let mut flag = |name: &str| arguments.push((self.texts.id(name), Value::Text(self.texts.id("true"))));
        if end_ns == UNFINISHED {
            flag("unfinished");
        } else if from == Some(start_ns) || to == Some(end_ns) {
            flag("clipped");
        }
        if end_ns < start_ns {
            arguments.push((self.texts.id("bad_end_ns"), Value::Integer(end_ns)));
        }
    }

    /// Writes the whole process. GPU work is read first, because calls name what they launched.
    pub(super) fn write(&mut self) -> Result<()> {
        self.describe()?;
        let mut facts = self.read(facts_request())?;
        let kernels = schema::table("kernels").map_or(0, |table| self.trace.recorded_rows(self.member, table));
        let mut flows = Flows::new(self.uuid("flows", &[]), usize::try_from(kernels).unwrap_or(0));
        let kernels = self.gather_kernels(&facts.take("kernel_symbols")?, &mut flows)?;
        let copies = self.gather_copies(&mut flows)?;
        flows.sort();
        let calls = self.gather_calls(&mut flows)?;
        // Reading the calls has shown whether some have no length.
        let marks =
            self.read(request(&[("marks", &["domain", "name", "message", "tid", "correlation_id", "time_ns"])]))?;
        self.calls(calls, &facts.take("threads")?, &mut flows)?;
        self.marks(&{ marks }.take("marks")?)?;
        self.states(&self.read(states_request())?.take("thread_states")?)?;
        self.analyses()?;
        self.kernels(kernels, &mut flows)?;
        self.copies(copies, &mut flows)?;
        drop(flows);
        self.values()?;
        self.findings()
    }

    /// Writes the tracks of analyses.
    fn analyses(&mut self) -> Result<()> {
        if self.options.tracks == Tracks::Recorded {
            return Ok(());
        }
        let mut tables = self.read(analyses_request(self.options.tracks))?;
        self.idle(&tables.take("idle_gaps")?)?;
        self.exposed_communication(&tables.take("gpu_segments")?)?;
        self.depths(&tables.take("queue_depths")?)?;
        self.iterations(&tables.take("iterations")?)?;
        if self.options.tracks == Tracks::All {
            self.critical_path(&tables.take("critical_path")?)?;
        }
        Ok(())
    }

    /// Writes operations on memory, and counters.
    fn values(&mut self) -> Result<()> {
        let mut tables = self.read(values_request())?;
        self.counters(&tables.take("counters")?, &tables.take("counter_dispatches")?)?;
        self.copies_in_flight(&tables.take("memory_copies")?)?;
        self.allocations(&tables.take("memory_allocations")?)?;
        self.memory(&tables.take("memory_live")?)?;
        self.samples(&tables.take("samples")?)
    }

    /// Keeps the first start of a table.
    pub(super) fn saw_start(&mut self, frame: &DataFrame) -> Result<()> {
        let first = integers(frame, "start_ns")?.iter().flatten().filter(|start_ns| *start_ns > 0).min();
        self.first_ns = self.first_ns.into_iter().chain(first).min();
        Ok(())
    }

    /// Writes the process and its GPUs.
    fn describe(&mut self) -> Result<()> {
        let process = &self.member.process;
        let program = process.facts.command.as_deref().and_then(program);
        let rank = process.rank;
        let name = program.map_or_else(|| format!("rank {rank}"), |program| format!("rank {rank} · {program}"));
        let uuid = self.uuid("process", &[]);
        self.sink.process(&ProcessFacts { uuid, pid: self.pid(), name, process })?;
        for agent in process.facts.agents.iter().filter(|agent| agent.is_gpu()) {
            let Some(gpu) = process.gpus.get(&agent.agent_id).map(|gpu| gpu.gpu) else { continue };
            let name = format!("GPU {gpu} · {} (agent {})", agent.name, agent.agent_id);
            let (parent, place) = (uuid, TrackContent::Gpu { gpu });
            let uuid = self.uuid("gpu", &[gpu]);
            self.sink.group(&TrackFacts { uuid, name: &name, parent, order: 20 + gpu, lanes_of: None, place })?;
            self.gpus.insert(gpu, uuid);
        }
        Ok(())
    }

    fn read(&self, request: Request) -> Result<Read> {
        let mut read = Read::default();
        for (name, frame) in self.trace.process_frames(self.member, &request)? {
            read.0.insert(name, collected(&frame)?);
        }
        Ok(read)
    }
}

/// The program of a command, without its folder: its first word and the parentheses that follow, which names of
/// processes and folders may have.
fn program(command: &str) -> Option<&str> {
    let command = command.trim();
    let (mut depth, mut end) = (0_usize, command.len());
    for (at, letter) in command.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_end = letter.is_whitespace() && depth == 0;
        if is_end && !command.get(at..).is_some_and(|rest| rest.trim_start().starts_with('(')) {
            end = at;
            break;
        }
    }
    // Parentheses that are never closed belong to arguments.
    let whole = if depth == 0 { command.get(..end)? } else { command.split_whitespace().next()? };
    // A folder may be named within the parentheses of a name.
    let is_in_parentheses = |at: usize| {
        let before = whole.get(..at).unwrap_or_default();
        before.matches('(').count() > before.matches(')').count()
    };
    let folder_end = whole.rmatch_indices('/').map(|(at, _)| at).find(|at| !is_in_parentheses(*at));
    let name = folder_end.and_then(|at| whole.get(at + 1..)).unwrap_or(whole);
    Some(if name.is_empty() { whole } else { name }).filter(|name| !name.is_empty())
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

/// Columns that are read first.
fn facts_request() -> Request {
    request(&[("threads", &["tid", "name"]), ("kernel_symbols", &["kernel_id", "vgpr", "accum_vgpr", "sgpr"])])
}

fn states_request() -> Request {
    request(&[("thread_states", &["tid", "state", "start_ns", "end_ns", "cpu"])])
}

fn analyses_request(tracks: Tracks) -> Request {
    let mut all: Vec<(&'static str, &[&'static str])> = vec![
        ("idle_gaps", &["gpu", "start_ns", "end_ns", "cause"]),
        ("gpu_segments", &["gpu", "start_ns", "end_ns", "compute", "comm"]),
        ("queue_depths", &["gpu", "queue_id", "start_ns", "end_ns", "waiting"]),
        ("iterations", &["iteration", "unit", "phase", "start_ns", "end_ns"]),
    ];
    if tracks == Tracks::All {
        all.push(("critical_path", &["kind", "name", "start_ns", "end_ns"]));
    }
    request(&all)
}

fn values_request() -> Request {
    request(&[
        ("counters", &["pass", "dispatch_id", "counter", "value"]),
        ("counter_dispatches", &["pass", "dispatch_id", "gpu", "start_ns", "end_ns"]),
        ("memory_copies", &["gpu", "bytes", "start_ns", "end_ns"]),
        ("memory_allocations", &["operation", "level", "gpu", "bytes", "correlation_id", "start_ns", "end_ns"]),
        ("memory_live", &["level", "gpu", "time_ns", "live_bytes"]),
        ("samples", &["track", "name", "unit", "time_ns", "value"]),
    ])
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn programs_are_named_whole() {
        for (command, wanted) in [
            ("/usr/bin/python3 train.py --lr 0.1", Some("python3")),
            ("./vcopy -n 1024", Some("vcopy")),
            ("python (rank 0)", Some("python (rank 0)")),
            ("sglang::scheduler (TP0/PP1)", Some("sglang::scheduler (TP0/PP1)")),
            ("/opt/app (copy 2)/bin/run --fast", Some("run")),
            ("bench(v2) --n 3", Some("bench(v2)")),
            ("app (unclosed --x", Some("app")),
            ("  ", None),
            ("/", Some("/")),
        ] {
            assert_eq!(program(command), wanted, "{command}");
        }
    }
}

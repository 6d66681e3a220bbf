//! Takes the digest of a trace: each process is summed up while it is read, and its tables are dropped.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use polars::prelude::*;

use super::clocks::add_clocks;
use super::copies::copies;
use super::counters::{CounterValues, add_counters, finished};
use super::gpu_times::{GpuTimes, gpu_times};
use super::kernels::{INPUTS, OfGpu, SHAPE, kernels};
use super::model::{Digest, GpuDigest, PathDigest, RunFacts, StepDigest};
use super::paths::{paths, ranges};
use super::steps::steps;
use super::transfers;
use super::units::{Units, of_iterations, of_ranges};
use crate::timeline::TimelineReader;
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::schema::facts::Role;
use wavesieve_tables::columns::frames::collected;
use wavesieve_tables::columns::requests::{ProcessTables, Request};
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Number of dispatches of a run above which its critical path is left out by default: it takes as much time as
/// everything else.
const MAX_DISPATCHES: u64 = 1_000_000;

/// Options for taking a digest.
#[derive(Clone, Copy, Default)]
pub struct TakeOptions<'a> {
    /// Name of the ROCTx ranges that replace iterations.
    pub range: Option<&'a str>,
    pub path: PathChoice,
    /// The time line to read as well.
    pub timeline: Option<&'a TimelineReader>,
}

/// Whether the critical path is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathChoice {
    /// Only for runs of up to a million dispatches.
    #[default]
    Auto,
    Always,
    Never,
}

impl PathChoice {
    fn is_kept(self, trace: &Trace) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => trace.recorded_dispatches() <= MAX_DISPATCHES,
        }
    }
}

/// Columns to read from every process; columns of ranges only if a name is given.
fn request(range: Option<&str>, has_path: bool) -> Request {
    let mut kernels = BTreeSet::from(["kernel_name", "category", "gpu", "start_ns", "end_ns", "dispatch_id", "valid"]);
    kernels.extend(SHAPE);
    kernels.insert(INPUTS);
    let mut ranges = BTreeSet::from(["message", "path", "gpu_start_ns", "kernel_ns"]);
    if range.is_some() {
        ranges.insert("gpu_end_ns");
    }
    let mut request = Request::from([
        ("ranges", ranges),
        ("kernels", kernels),
        ("memory_copies", BTreeSet::from(["direction", "gpu", "peer_gpu", "start_ns", "end_ns", "valid"])),
        ("gpu_segments", BTreeSet::from(["gpu", "start_ns", "end_ns", "compute", "comm", "copies"])),
        ("idle_gaps", BTreeSet::from(["gpu", "start_ns", "end_ns", "cause"])),
        ("regions", BTreeSet::from(["domain"])),
        ("kernel_clocks", BTreeSet::from(["kernel_name", "gpu", "time_ns", "took_ns", "clock_mhz"])),
        ("counter_dispatches", BTreeSet::from(["pass", "dispatch_id", "kernel_name"])),
        ("counters", BTreeSet::from(["pass", "dispatch_id", "counter", "value"])),
    ]);
    if has_path {
        request.insert("critical_path", BTreeSet::from(["kind", "name", "start_ns", "end_ns"]));
    }
    if range.is_none() {
        request.insert("iterations", BTreeSet::from(["phase", "start_ns", "end_ns", "unit"]));
    }
    request
}

/// Reads a trace once and sums it up. Counter passes and thread traces are left out, because their times are not the
/// times of the program.
///
/// # Errors
/// When a table cannot be read or built.
pub fn take(trace: &Trace, inputs: &[String], options: &TakeOptions<'_>) -> Result<Digest> {
    let TakeOptions { range, path, timeline } = *options;
    let has_path = path.is_kept(trace);
    let found: Mutex<BTreeMap<i64, OfProcess>> = Mutex::default();
    let counted: Mutex<BTreeMap<i64, CounterValues>> = Mutex::default();
    let consumer = TableConsumer::new(request(range, has_path), |member, tables| {
        if member.process.role != Role::ThreadTrace {
            let mut values = CounterValues::new();
            add_counters(&table(tables, "counter_dispatches")?, &table(tables, "counters")?, &mut values)?;
            counted.lock().insert(member.process.process, values);
        }
        if member.process.role == Role::Trace {
            let window = trace.window_of(member);
            let of_process = of_process(member, tables, window, range, has_path)
                .with_context(|| format!("cannot sum up rank {}", member.process.rank))?;
            found.lock().insert(member.process.process, of_process);
        }
        Ok(())
    });
    let processes = trace.members().iter().filter(|member| member.process.role == Role::Trace).count();
    if processes > 1 {
        trace.request_joint(&transfers::request());
    }
    let consumers: Vec<TableConsumer<'_>> =
        timeline.map(TimelineReader::consumer).into_iter().chain([consumer]).collect();
    trace.frames_with_consumers(&Request::new(), |_| consumers.iter().collect())?;
    drop(consumers);
    let (mut domains, mut gpus, mut units) = (BTreeSet::new(), Vec::new(), BTreeMap::new());
    let mut unit_words = BTreeSet::new();
    let (mut paths, mut ranges, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for (process, of_process) in found.into_inner() {
        gpus.extend(of_process.gpus);
        domains.extend(of_process.domains);
        units.insert(process, of_process.units);
        unit_words.extend(of_process.unit_words);
        paths.extend(of_process.paths);
        ranges.extend(of_process.ranges);
        steps.extend(of_process.steps);
    }
    let mut counters = CounterValues::new();
    for (key, values) in counted.into_inner().into_values().flatten() {
        counters.entry(key).or_default().extend(values);
    }
    let communicates = gpus.iter().flat_map(|gpu| &gpu.kernels).any(|kernel| kernel.category == COMMUNICATION);
    if processes > 1 && communicates {
        let collectives = trace.frames(&transfers::request())?.into_values().next().unwrap_or_default().collect()?;
        transfers::separate(&mut gpus, &collectives, &units)?;
    }
    let used = gpus.iter().map(|gpu| (gpu.process, gpu.gpu)).collect();
    let facts =
        RunFacts { range: range.map(ToOwned::to_owned), units: unit_words, ..facts(trace, inputs, domains, &used) };
    Ok(Digest { facts, gpus, paths, ranges, counters: finished(counters), steps, lacks_sum: false })
}

fn facts(trace: &Trace, inputs: &[String], domains: BTreeSet<String>, used: &BTreeSet<(i64, i64)>) -> RunFacts {
    let members = || trace.members().iter().filter(|member| member.process.role == Role::Trace);
    let mut facts = RunFacts {
        inputs: inputs.to_vec(),
        domains,
        ranks: members().map(|member| member.process.rank).collect::<BTreeSet<i64>>().len(),
        is_serialized: members().any(|member| member.process.facts.may_be_serialized()),
        filters: trace.choice().command_line(),
        damage: trace.damage().iter().map(|damage| format!("{}: {}", damage.part, damage.cause)).collect(),
        ..RunFacts::default()
    };
    for member in members() {
        let process = &member.process.facts;
        for agent in process.agents.iter().filter(|agent| agent.is_gpu()) {
            let architecture = agent.name.split(':').next().unwrap_or_default().to_lowercase();
            // Some formats have placeholders such as `agent 2`.
            if architecture.starts_with("gfx") {
                facts.architectures.insert(architecture);
            }
            let gpu = member.process.gpus.get(&agent.agent_id).map(|gpu| (member.process.process, gpu.gpu));
            if gpu.is_some_and(|gpu| used.contains(&gpu)) {
                facts.devices.insert(format!("{} {}", process.machine_key, agent.device_key()));
            }
        }
        let version = process.schema_version.as_deref().unwrap_or("unknown version");
        facts.formats.insert(format!("{} {version}", process.format));
    }
    facts
}

/// The data kept of a process.
struct OfProcess {
    gpus: Vec<GpuDigest>,
    /// Domains of its API calls.
    domains: BTreeSet<String>,
    units: Units,
    /// Words for these units, if no ranges stand for them.
    unit_words: BTreeSet<String>,
    paths: Vec<PathDigest>,
    ranges: Vec<PathDigest>,
    steps: Vec<StepDigest>,
}

fn table(tables: &ProcessTables, name: &str) -> Result<DataFrame> {
    Ok(collected(tables.get(name).with_context(|| format!("internal: {name} was not read"))?)?)
}

fn of_process(
    member: &TraceProcess,
    tables: &ProcessTables,
    window: (Option<i64>, Option<i64>),
    range: Option<&str>,
    has_path: bool,
) -> Result<OfProcess> {
    let table = |name: &str| table(tables, name);
    let (units, unit_words) = match range {
        Some(name) => (of_ranges(&table("ranges")?, name, window)?, BTreeSet::new()),
        None => {
            let iterations = table("iterations")?;
            let words = iterations.column("unit")?.unique()?.cast(&DataType::String)?;
            let words = words.str()?.iter().flatten().map(ToOwned::to_owned).collect();
            (of_iterations(&iterations, window)?, words)
        }
    };
    let times = gpu_times(&table("gpu_segments")?, &table("idle_gaps")?, &units)?;
    let mut kernels = kernels(&table("kernels")?, &units)?;
    let of_gpus = kernels.iter_mut().flat_map(|(gpu, of_gpu)| of_gpu.kernels.iter_mut().map(|kernel| (*gpu, kernel)));
    add_clocks(&table("kernel_clocks")?, &units, of_gpus)?;
    let mut copies = copies(&table("memory_copies")?, &units)?;
    let domains = table("regions")?;
    let domains = domains.column("domain")?.unique()?.cast(&DataType::String)?;
    let domains = domains.str()?.iter().flatten().map(ToOwned::to_owned).collect();
    let process = &member.process;
    let paths = if has_path { paths(&table("critical_path")?, process.process, &units)? } else { Vec::new() };
    let of_ranges = table("ranges")?;
    let steps = if range.is_none() { steps(&of_ranges, process.process)? } else { Vec::new() };
    let ranges = ranges(&of_ranges, process.process, &units)?;
    let of_gpu = |(gpu, (run, in_units)): (i64, GpuTimes)| {
        let OfGpu { kernels, per_unit, typical } = kernels.remove(&gpu).unwrap_or_default();
        GpuDigest {
            process: process.process,
            rank: process.rank,
            gpu,
            run,
            waits_ns: (0, 0),
            transfers: Vec::new(),
            iterations: in_units,
            kernels_per_iteration: per_unit,
            kernels,
            copies: copies.remove(&gpu).unwrap_or_default(),
            typical,
        }
    };
    Ok(OfProcess { gpus: times.into_iter().map(of_gpu).collect(), domains, units, unit_words, paths, ranges, steps })
}

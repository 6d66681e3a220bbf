//! Takes the digest of a trace: each process is summed up while it is read, and its tables are dropped.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use itertools::izip;
use parking_lot::Mutex;
use polars::prelude::*;

use super::gpu_times::{GpuTimes, gpu_times};
use super::kernel_calls::{Dispatch, KernelCalls};
use super::model::{CopyDigest, Digest, GpuDigest, RunFacts};
use super::transfers;
use crate::analysis::categories::COMMUNICATION;
use crate::analysis::queues::order::start_order;
use crate::columns::frames::{categorical, collected, values_by_text};
use crate::columns::requests::{ProcessTables, Request};
use crate::columns::values::{BoolValues, I64Values};
use crate::schema::facts::Role;
use crate::trace::consumer::TableConsumer;
use crate::trace::{Trace, TraceProcess};

/// The phase of iterations that are compared.
const STEADY: &str = "steady";
const SIZES: [&str; 6] = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"];

/// What is read of every process.
fn request() -> Request {
    let mut kernels = BTreeSet::from(["kernel_name", "category", "gpu", "start_ns", "end_ns", "dispatch_id", "valid"]);
    kernels.extend(SIZES);
    Request::from([
        ("kernels", kernels),
        ("memory_copies", BTreeSet::from(["direction", "gpu", "peer_gpu", "start_ns", "end_ns", "valid"])),
        ("iterations", BTreeSet::from(["phase", "start_ns", "end_ns"])),
        ("gpu_segments", BTreeSet::from(["gpu", "start_ns", "end_ns", "compute", "comm", "copies"])),
        ("idle_gaps", BTreeSet::from(["gpu", "start_ns", "end_ns", "cause"])),
        ("regions", BTreeSet::from(["domain"])),
    ])
}

/// Reads a trace once and sums it up. Counter passes and thread traces have no times of their own and are left out.
///
/// # Errors
/// When a table cannot be read or built.
pub(crate) fn take(trace: &Trace, inputs: &[String]) -> Result<Digest> {
    let found: Mutex<BTreeMap<i64, OfProcess>> = Mutex::default();
    let consumer = TableConsumer::new(request(), |member, tables, _| {
        if member.process.role == Role::Trace {
            let window = trace.window_of(member);
            let of_process = of_process(member, tables, window)
                .with_context(|| format!("cannot sum up rank {}", member.process.rank))?;
            found.lock().insert(member.process.process, of_process);
        }
        Ok(())
    });
    let processes = trace.members().iter().filter(|member| member.process.role == Role::Trace).count();
    if processes > 1 {
        trace.request_joint(&transfers::request());
    }
    trace.frames_with_consumers(&Request::new(), |_| vec![&consumer])?;
    drop(consumer);
    let (mut domains, mut gpus, mut iterations) = (BTreeSet::new(), Vec::new(), BTreeMap::new());
    for (process, of_process) in found.into_inner() {
        gpus.extend(of_process.gpus);
        domains.extend(of_process.domains);
        iterations.insert(process, of_process.iterations);
    }
    let communicates = gpus.iter().flat_map(|gpu| &gpu.kernels).any(|kernel| kernel.category == COMMUNICATION);
    if processes > 1 && communicates {
        let collectives = trace.frames(&transfers::request())?.into_values().next().unwrap_or_default().collect()?;
        transfers::separate(&mut gpus, &collectives, &iterations)?;
    }
    let used = gpus.iter().map(|gpu| (gpu.process, gpu.gpu)).collect();
    Ok(Digest { facts: facts(trace, inputs, domains, &used), gpus })
}

fn facts(trace: &Trace, inputs: &[String], domains: BTreeSet<String>, used: &BTreeSet<(i64, i64)>) -> RunFacts {
    let members = || trace.members().iter().filter(|member| member.process.role == Role::Trace);
    let mut facts = RunFacts {
        inputs: inputs.to_vec(),
        domains,
        ranks: members().map(|member| member.process.rank).collect::<BTreeSet<i64>>().len(),
        is_serialized: members().any(|member| member.process.facts.has_counters),
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

/// What is kept of a process.
struct OfProcess {
    gpus: Vec<GpuDigest>,
    /// Domains of its API calls.
    domains: BTreeSet<String>,
    /// Start and end of its steady iterations.
    iterations: Vec<(i64, i64)>,
}

fn of_process(member: &TraceProcess, tables: &ProcessTables, window: Bounds) -> Result<OfProcess> {
    let table = |name: &str| -> Result<DataFrame> {
        Ok(collected(tables.get(name).with_context(|| format!("internal: {name} was not read"))?)?)
    };
    let iterations = steady_iterations(&table("iterations")?, window)?;
    let times = gpu_times(&table("gpu_segments")?, &table("idle_gaps")?, &iterations)?;
    let mut kernels = kernels(&table("kernels")?, &iterations)?;
    let mut copies = copies(&table("memory_copies")?, &iterations)?;
    let domains = table("regions")?;
    let domains = domains.column("domain")?.unique()?.cast(&DataType::String)?;
    let domains = domains.str()?.iter().flatten().map(ToOwned::to_owned).collect();
    let process = &member.process;
    let of_gpu = |(gpu, (run, in_iterations)): (i64, GpuTimes)| {
        let (kernels, per_iteration) = kernels.remove(&gpu).unwrap_or_default();
        GpuDigest {
            process: process.process,
            rank: process.rank,
            gpu,
            run,
            waits_ns: (0, 0),
            transfers: Vec::new(),
            iterations: in_iterations,
            kernels_per_iteration: per_iteration,
            kernels,
            copies: copies.remove(&gpu).unwrap_or_default(),
        }
    };
    Ok(OfProcess { gpus: times.into_iter().map(of_gpu).collect(), domains, iterations })
}

/// Start and end of a window in a process; `None` where it is open.
type Bounds = (Option<i64>, Option<i64>);

/// Start and end of the steady iterations that lie in a window as a whole, in order of time.
fn steady_iterations(frame: &DataFrame, (from, to): Bounds) -> Result<Vec<(i64, i64)>> {
    let starts = I64Values::new(frame.column("start_ns")?.i64()?);
    let ends = I64Values::new(frame.column("end_ns")?.i64()?);
    let is_steady = values_by_text(frame.column("phase")?, |phase| phase == STEADY)?;
    let rows = izip!(starts.iter(), ends.iter(), is_steady);
    let mut iterations: Vec<(i64, i64)> =
        rows.filter_map(|(start, end, is_steady)| start.zip(end).filter(|_| is_steady == Some(true))).collect();
    iterations.retain(|(start_ns, end_ns)| {
        from.is_none_or(|from_ns| from_ns <= *start_ns) && to.is_none_or(|to_ns| *end_ns <= to_ns)
    });
    iterations.sort_unstable();
    Ok(iterations)
}

/// The number of the iteration in which something starts.
pub(super) fn iteration_at(iterations: &[(i64, i64)], start_ns: i64) -> Option<u32> {
    let place = iterations.partition_point(|(from_ns, _)| *from_ns <= start_ns).checked_sub(1)?;
    iterations.get(place).filter(|(_, to_ns)| start_ns < *to_ns)?;
    u32::try_from(place).ok()
}

/// Kernels by GPU, with the number of dispatches in each iteration.
type Kernels = BTreeMap<i64, (Vec<super::model::KernelDigest>, Vec<i64>)>;

fn kernels(frame: &DataFrame, iterations: &[(i64, i64)]) -> Result<Kernels> {
    let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
    let (gpus, starts, ends) = (integers("gpu")?, integers("start_ns")?, integers("end_ns")?);
    let ids = integers("dispatch_id")?;
    let sizes = SIZES.map(integers).into_iter().collect::<Result<Vec<I64Values>>>()?;
    let valid = BoolValues::new(frame.column("valid")?.bool()?).are_true();
    let names = frame.column("kernel_name")?.as_materialized_series().cast(&categorical())?;
    let names = names.cat32()?;
    let codes = names.physical().rechunk();
    let codes = codes.downcast_as_array();
    let categories = frame.column("category")?.as_materialized_series().cast(&categorical())?;
    let categories = categories.cat32()?;
    let category_codes = categories.physical().rechunk();
    let category_codes = category_codes.downcast_as_array();

    let count = frame.height();
    let order = start_order(count, |row| starts.get(row), |row| ids.get(row));
    let order: Vec<u32> = order.unwrap_or_else(|| (0..count as u32).collect());
    let mut calls: Vec<((i64, u32), u32, KernelCalls)> = Vec::new();
    let mut places: BTreeMap<(i64, u32), usize> = BTreeMap::new();
    let mut per_iteration: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in order.into_iter().map(|row| row as usize) {
        let (Some(gpu), Some(start_ns), Some(end_ns)) = (gpus.get(row), starts.get(row), ends.get(row)) else {
            continue;
        };
        let (Some(code), Some(category)) = (codes.get(row), category_codes.get(row)) else { continue };
        if !valid.get(row).unwrap_or(false) {
            continue;
        }
        let iteration = iteration_at(iterations, start_ns);
        if let Some(iteration) = iteration {
            let counts = per_iteration.entry(gpu).or_insert_with(|| vec![0; iterations.len()]);
            if let Some(count) = counts.get_mut(iteration as usize) {
                *count += 1;
            }
        }
        let mut of_dispatch = [0; 6];
        for (size, values) in of_dispatch.iter_mut().zip(&sizes) {
            *size = values.get(row).unwrap_or_default();
        }
        let place = *places.entry((gpu, code)).or_insert(calls.len());
        if place == calls.len() {
            calls.push(((gpu, code), category, KernelCalls::default()));
        }
        let Some((_, _, calls)) = calls.get_mut(place) else { continue };
        calls.add(Dispatch { duration_ns: end_ns.saturating_sub(start_ns), iteration, sizes: of_dispatch });
    }
    let mut found: Kernels = BTreeMap::new();
    for ((gpu, code), category, calls) in calls {
        let name = names.get_mapping().cat_to_str(code).unwrap_or_default().to_owned();
        let category = categories.get_mapping().cat_to_str(category).unwrap_or_default().to_owned();
        found.entry(gpu).or_default().0.push(calls.finish(name, category, iterations.len()));
    }
    for (gpu, (kernels, counts)) in &mut found {
        kernels.sort_by(|one, other| one.name.cmp(&other.name));
        *counts = per_iteration.remove(gpu).unwrap_or_else(|| vec![0; iterations.len()]);
    }
    Ok(found)
}

fn copies(frame: &DataFrame, iterations: &[(i64, i64)]) -> Result<BTreeMap<i64, Vec<CopyDigest>>> {
    let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
    let (gpus, starts, ends) = (integers("gpu")?, integers("start_ns")?, integers("end_ns")?);
    let valid = BoolValues::new(frame.column("valid")?.bool()?);
    let directions = frame.column("direction")?.cast(&DataType::String)?;
    let peers = integers("peer_gpu")?;
    let mut sums: BTreeMap<(i64, String), CopyDigest> = BTreeMap::new();
    for (gpu, peer, start, end, valid, direction) in
        izip!(gpus.iter(), peers.iter(), starts.iter(), ends.iter(), valid.iter(), directions.str()?.iter())
    {
        let (Some(start_ns), Some(end_ns), Some(true)) = (start, end, valid) else { continue };
        // A copy between two GPUs keeps both busy.
        for gpu in gpu.into_iter().chain(peer) {
            let sum = sums.entry((gpu, direction.unwrap_or("NONE").to_owned())).or_default();
            let add = |sum: &mut (i64, i64)| *sum = (sum.0 + 1, sum.1.saturating_add(end_ns.saturating_sub(start_ns)));
            add(&mut sum.run);
            if iteration_at(iterations, start_ns).is_some() {
                add(&mut sum.steady);
            }
        }
    }
    let mut by_gpu: BTreeMap<i64, Vec<CopyDigest>> = BTreeMap::new();
    for ((gpu, direction), sum) in sums {
        by_gpu.entry(gpu).or_default().push(CopyDigest { direction, ..sum });
    }
    Ok(by_gpu)
}

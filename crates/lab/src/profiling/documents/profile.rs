//! `profile.json`: the dominant kernel, its times and what it occupies.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::SCHEMA_VERSION;
use super::parts::Parts;
use crate::measuring::{RunTimes, Stability, Stopped};
use crate::profiling::collecting::Recorded;
use crate::profiling::kernel::{GpuFacts, Kernel, Occupancy, Resources};
use crate::profiling::request::ProfileRequest;
use crate::profiling::roof::Roofline;

const NS_PER_MS: f64 = 1e6;
/// Kernels that are listed, those with most time.
const MOST_KERNELS: usize = 100;

#[derive(Serialize)]
struct Profile<'a> {
    schema_version: &'static str,
    generator: Generator,
    command: String,
    kernel: &'a Kernel,
    gpu: GpuFacts,
    /// Median over the runs of the total time of the kernel.
    runtime_ms: f64,
    stability: StabilityOfRuns,
    times: Times,
    kernels: Vec<KernelRow>,
    runs: Vec<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<&'a Resources>,
    #[serde(skip_serializing_if = "Option::is_none")]
    occupancy: Option<&'a Occupancy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roofline: Option<&'a Roofline>,
    absent: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
struct Generator {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct StabilityOfRuns {
    runs: usize,
    mean_ms: f64,
    median_ms: f64,
    stddev_ms: f64,
    min_ms: f64,
    max_ms: f64,
    cv: f64,
    classification: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<IntervalMs>,
    /// Why there were no more runs.
    stopped: &'static str,
}

#[derive(Serialize)]
struct IntervalMs {
    low_ms: f64,
    high_ms: f64,
    confidence: f64,
    /// Width over median.
    width: f64,
}

/// Both ways to see what is dominant.
#[derive(Serialize)]
struct Times {
    total_ns: f64,
    longest_dispatch_ns: i64,
    dispatches: f64,
    mean_dispatch_ns: f64,
    /// Share in the time of all kernels.
    share_of_kernel_time: f64,
}

#[derive(Serialize)]
struct KernelRow {
    name: String,
    /// Means over the runs in which it ran.
    total_ns: f64,
    dispatches: f64,
    longest_ns: i64,
    share_of_kernel_time: f64,
    is_of_runtime: bool,
}

#[derive(Serialize)]
struct Run {
    seconds: f64,
    span_ns: i64,
    /// None where the kernel did not run.
    total_ns: Option<i64>,
    longest_ns: Option<i64>,
    dispatches: u64,
    traces: Vec<String>,
}

pub(super) fn document(request: &ProfileRequest, recorded: &Recorded, parts: &Parts) -> Result<Value> {
    let runs = &recorded.measured.runs;
    let name = recorded.dominant.as_str();
    let kernels = kernels(runs);
    let own = kernels.iter().find(|kernel| kernel.name == name);
    let (total_ns, dispatches) = own.map_or((0.0, 0.0), |own| (own.total_ns, own.dispatches));
    let times = Times {
        total_ns,
        longest_dispatch_ns: own.map_or(0, |own| own.longest_ns),
        dispatches,
        mean_dispatch_ns: if dispatches > 0.0 { total_ns / dispatches } else { 0.0 },
        share_of_kernel_time: own.map_or(0.0, |own| own.share_of_kernel_time),
    };
    let gpu = parts.gpu.clone().unwrap_or_else(|| GpuFacts {
        architecture: "unknown".to_owned(),
        product: None,
        wave_size: None,
        compute_units: None,
        theoretical_peak_flops: None,
        peak_bandwidth_gbps: None,
    });
    Ok(serde_json::to_value(Profile {
        schema_version: SCHEMA_VERSION,
        generator: Generator { name: "wavesieve", version: env!("CARGO_PKG_VERSION") },
        command: request.application.line(),
        kernel: &parts.kernel,
        gpu,
        runtime_ms: recorded.stability.median / NS_PER_MS,
        stability: stability(&recorded.stability, recorded.measured.stopped),
        times,
        kernels: kernels.into_iter().take(MOST_KERNELS).collect(),
        runs: runs.iter().map(|run| of_run(run, name)).collect(),
        resources: parts.resources.as_ref().ok(),
        occupancy: parts.occupancy.as_ref().ok(),
        roofline: parts.roofline.as_ref().ok(),
        absent: parts.absent(&["gpu", "resources", "occupancy", "roofline"]),
    })?)
}

fn stability(found: &Stability, stopped: Stopped) -> StabilityOfRuns {
    let interval = found.interval.zip(found.width()).map(|(interval, width)| IntervalMs {
        low_ms: interval.low / NS_PER_MS,
        high_ms: interval.high / NS_PER_MS,
        confidence: interval.confidence,
        width,
    });
    StabilityOfRuns {
        runs: found.runs,
        mean_ms: found.mean / NS_PER_MS,
        median_ms: found.median / NS_PER_MS,
        stddev_ms: found.stddev / NS_PER_MS,
        min_ms: found.min / NS_PER_MS,
        max_ms: found.max / NS_PER_MS,
        cv: found.cv,
        classification: found.class.word(),
        interval,
        stopped: stopped.word(),
    }
}

/// Kernels of all runs, those with most time first.
fn kernels(runs: &[RunTimes]) -> Vec<KernelRow> {
    let mut sums: BTreeMap<&str, (i128, u64, i64, bool, f64)> = BTreeMap::new();
    for kernel in runs.iter().flat_map(|run| &run.kernels) {
        let sum = sums.entry(&kernel.name).or_insert((0, 0, 0, kernel.is_of_runtime, 0.0));
        sum.4 += 1.0;
        sum.0 += i128::from(kernel.total_ns);
        sum.1 += kernel.dispatches;
        sum.2 = sum.2.max(kernel.longest_ns);
    }
    let all: i128 = sums.values().map(|(total, ..)| *total).sum();
    let share = |total: i128| if all > 0 { total as f64 / all as f64 } else { 0.0 };
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (total, ..))| std::cmp::Reverse(*total));
    let row = |(name, (total, dispatches, longest_ns, is_of_runtime, count)): (&str, (i128, u64, i64, bool, f64))| {
        KernelRow {
            name: name.to_owned(),
            total_ns: total as f64 / count,
            dispatches: dispatches as f64 / count,
            longest_ns,
            share_of_kernel_time: share(total),
            is_of_runtime,
        }
    };
    sums.into_iter().map(row).collect()
}

fn of_run(run: &RunTimes, kernel: &str) -> Run {
    let own = run.kernel(kernel);
    Run {
        seconds: run.seconds,
        span_ns: run.span_ns,
        total_ns: own.map(|own| own.total_ns),
        longest_ns: own.map(|own| own.longest_ns),
        dispatches: own.map_or(0, |own| own.dispatches),
        traces: run.traces.iter().map(|path| path.display().to_string()).collect(),
    }
}

//! `profile.json`: the dominant kernel, its times and its resources.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};

use super::parts::Parts;
use super::{SCHEMA_VERSION, known};
use crate::measuring::{RunTimes, Stability, Stopped};
use crate::profiling::collecting::Recorded;
use crate::profiling::kernel::GpuFacts;
use crate::profiling::request::ProfileRequest;

const NS_PER_MS: f64 = 1e6;
/// Maximum number of kernels to list, those with the most time.
const MOST_KERNELS: usize = 100;

/// Totals are means over the runs in which the kernel ran.
#[derive(Clone, Default, Serialize)]
struct KernelRow {
    name: String,
    total_ns: f64,
    dispatches: f64,
    longest_ns: i64,
    share_of_kernel_time: f64,
    is_of_runtime: bool,
}

pub(super) fn document(request: &ProfileRequest, recorded: &Recorded, parts: &Parts) -> Result<Value> {
    let runs = &recorded.measured.runs;
    let name = recorded.dominant.as_str();
    let mut kernels = kernels(runs);
    let own = kernels.iter().find(|kernel| kernel.name == name).cloned().unwrap_or_default();
    kernels.truncate(MOST_KERNELS);
    let unknown = || GpuFacts { architecture: "unknown".to_owned(), ..GpuFacts::default() };
    known(json!({
        "schema_version": SCHEMA_VERSION,
        "generator": { "name": "wavesieve", "version": env!("CARGO_PKG_VERSION") },
        "command": request.application.line(),
        "kernel": known(&parts.kernel)?,
        "gpu": known(parts.gpu.clone().unwrap_or_else(unknown))?,
        "runtime_ms": recorded.stability.median / NS_PER_MS,
        "stability": stability(&recorded.stability, recorded.measured.stopped)?,
        "times": {
            "total_ns": own.total_ns,
            "longest_dispatch_ns": own.longest_ns,
            "dispatches": own.dispatches,
            "mean_dispatch_ns": if own.dispatches > 0.0 { own.total_ns / own.dispatches } else { 0.0 },
            "share_of_kernel_time": own.share_of_kernel_time,
        },
        "kernels": kernels,
        "runs": runs.iter().map(|run| of_run(run, name)).collect::<Vec<_>>(),
        "resources": known(parts.resources.as_ref().ok())?,
        "occupancy": known(parts.occupancy.as_ref().ok())?,
        "roofline": known(parts.roofline.as_ref().ok())?,
        "absent": parts.absent(&["gpu", "resources", "occupancy", "roofline"]),
    }))
}

fn stability(found: &Stability, stopped: Stopped) -> Result<Value> {
    let interval = found.interval.zip(found.width()).map(|(interval, width)| {
        json!({
            "low_ms": interval.low / NS_PER_MS,
            "high_ms": interval.high / NS_PER_MS,
            "confidence": interval.confidence,
            "width": width,
        })
    });
    known(json!({
        "runs": found.runs,
        "mean_ms": found.mean / NS_PER_MS,
        "median_ms": found.median / NS_PER_MS,
        "stddev_ms": found.stddev / NS_PER_MS,
        "min_ms": found.min / NS_PER_MS,
        "max_ms": found.max / NS_PER_MS,
        "cv": found.cv,
        "classification": found.class,
        "interval": interval,
        "stopped": stopped,
    }))
}

/// Kernels of all runs, the most time first.
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

/// The times of a kernel in a run; null if the kernel did not run.
fn of_run(run: &RunTimes, kernel: &str) -> Value {
    let own = run.kernel(kernel);
    json!({
        "seconds": run.seconds,
        "span_ns": run.span_ns,
        "total_ns": own.map(|own| own.total_ns),
        "longest_ns": own.map(|own| own.longest_ns),
        "dispatches": own.map_or(0, |own| own.dispatches),
        "traces": run.traces.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
    })
}

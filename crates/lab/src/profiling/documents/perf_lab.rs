//! The numbers of rocm-perf-lab in place of the own ones, under the same keys.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::{Value, json};

use super::Documents;
use super::parts::Parts;
use crate::measuring::{RunTimes, Stability};
use crate::profiling::collecting::Recorded;
use crate::profiling::compat;
use crate::profiling::evidence::{Evidence, deeper};
use crate::profiling::trace_of_kernel::of_perf_lab;

const NS_PER_MS: f64 = 1e6;
/// Names the origin of the numbers in a document.
const NUMBERS: &str = "rocm-perf-lab";

/// Replaces numbers that rocm-perf-lab computes differently.
pub(super) fn replace(
    documents: &mut Documents,
    recorded: &Recorded,
    evidence: &Evidence,
    parts: &Parts,
) -> Result<()> {
    let runs = &recorded.measured.runs;
    let kernel = runs.first().and_then(longest).unwrap_or_default();
    let of_kernel = |run: &RunTimes| run.kernel(&kernel).map(|kernel| kernel.longest_ns as f64 / NS_PER_MS);
    let times: Vec<f64> = runs.iter().filter_map(of_kernel).collect();
    let stability = Stability::of(&times);
    let gpu = gpu(evidence);
    let roofline = gpu
        .as_ref()
        .zip(stability.as_ref())
        .filter(|_| parts.roofline.is_ok())
        .map(|(gpu, stability)| compat::roofline(&counters(evidence), stability.mean, gpu));
    if let Some(stability) = &stability {
        set(&mut documents.profile, "runtime_ms", json!(stability.mean));
        let replaced = json!({
            "runs": stability.runs, "mean_ms": stability.mean, "stddev_ms": stability.stddev, "cv": stability.cv,
            "classification": stability.class,
        });
        set(&mut documents.profile, "stability", replaced);
    }
    if let (Some(gpu), Ok(resources), Some(threads)) = (&gpu, &parts.resources, parts.kernel.threads()) {
        let of = |value: Option<i64>| value.unwrap_or(0);
        let theoretical = gpu.occupancy(of(resources.vgpr_per_thread), of(resources.lds_bytes), threads);
        let occupancy = json!({ "theoretical": theoretical, "threads_per_block": threads, "wave_size": gpu.wave_size });
        set(&mut documents.profile, "occupancy", occupancy);
    }
    if let Some(gpu) = &gpu
        && let Some(own) = documents.profile.get_mut("gpu")
    {
        set(own, "theoretical_peak_flops", json!(gpu.peak_flops()));
    }
    if let Some(roofline) = &roofline {
        let roofline = serde_json::to_value(roofline)?;
        set(&mut documents.profile, "roofline", roofline.clone());
        set(&mut documents.roofline, "roofline", roofline);
    }
    if parts.att.is_ok() {
        let att = of_perf_lab(evidence, &parts.kernel.name);
        let bottleneck = compat::bottleneck(&att, roofline.as_ref().map(|roofline| roofline.bound));
        set(&mut documents.analysis, "headroom_fraction", json!(att.headroom_fraction()));
        set(&mut documents.analysis, "bottleneck", serde_json::to_value(bottleneck)?);
        set(&mut documents.analysis, "att", serde_json::to_value(att)?);
    }
    for document in [&mut documents.profile, &mut documents.roofline, &mut documents.analysis] {
        set(document, "numbers", json!(NUMBERS));
    }
    Ok(())
}

fn set(document: &mut Value, key: &str, value: Value) {
    if let Some(object) = document.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

/// The kernel with the longest dispatch among those that rocm-perf-lab does not ignore; among all if it ignores all.
fn longest(run: &RunTimes) -> Option<String> {
    let kept = || run.kernels.iter().filter(|kernel| !compat::is_passed_over(&kernel.name));
    let longest = kept().max_by_key(|kernel| kernel.longest_ns);
    let longest = longest.or_else(|| run.kernels.iter().max_by_key(|kernel| kernel.longest_ns));
    longest.map(|kernel| kernel.name.clone())
}

fn gpu(evidence: &Evidence) -> Option<compat::Gpu<'_>> {
    let agent = evidence.gpu.as_ref()?;
    Some(compat::Gpu {
        architecture: agent.name.split(':').next().unwrap_or_default(),
        compute_units: agent.cu_count?,
        simds: agent.simd_per_cu?,
        wave_size: agent.wave_size?,
        waves_per_cu: agent.max_waves_per_cu?,
        clock_mhz: agent.max_clock_mhz?,
    })
}

fn counters(evidence: &Evidence) -> BTreeMap<String, f64> {
    let rows = evidence.rows(&deeper::counters());
    let sum = |row: usize| Some((rows.text(row, "counter")?.to_owned(), rows.number(row, "total")?));
    rows.places().filter_map(sum).collect()
}

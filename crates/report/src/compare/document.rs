//! The document of a comparison, which is the content of its JSON. `share/schemas/compare.json` describes it.

use serde::Serialize;

use super::comparability::Check;
use super::places::Aligned;

pub const SCHEMA: &str = "wavesieve-compare";
pub const SCHEMA_VERSION: &str = "1.0";

/// A comparison. Times are nanoseconds per unit of the basis, averaged over GPUs and runs. Unknown values are null,
/// with the reason in a field that ends in `_why`.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub schema: &'static str,
    pub schema_version: &'static str,
    pub verdict: &'static str,
    pub reason: String,
    pub basis: BasisFacts,
    pub settings: Settings,
    pub base: SideFacts,
    pub new: SideFacts,
    pub comparability: Vec<Check>,
    pub totals: Vec<Total>,
    pub decomposition: Vec<PartRow>,
    pub path: Vec<PathRow>,
    pub path_why: Option<&'static str>,
    pub kernels: Vec<KernelRow>,
    #[serde(rename = "new_kernels")]
    pub added: Vec<OneSided>,
    pub gone: Vec<OneSided>,
    pub replaced: Vec<ReplacedRow>,
    /// Differences between typical iterations, for people.
    #[serde(skip)]
    pub alignment: Vec<Aligned>,
    pub renamed: Vec<Renamed>,
    pub categories: Vec<Delta>,
    pub ranges: Vec<Delta>,
    pub ranges_why: Option<&'static str>,
    pub ranks: Vec<RankRow>,
    pub iterations: Vec<IterationRow>,
    pub counters: Vec<CounterRow>,
    pub counters_why: Option<&'static str>,
    pub gate: Gate,
    /// Ranges that mark the steps. If both sides are read with them, sides of other lengths can be compared per step.
    #[serde(skip)]
    pub step: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct BasisFacts {
    pub kind: &'static str,
    pub unit: String,
    pub base_units: i64,
    pub new_units: i64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    pub r#match: &'static str,
    pub effect_pct: f64,
    pub noise_floor_pct: f64,
    pub alpha: f64,
    pub least_share_pct: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct SideFacts {
    pub inputs: Vec<String>,
    pub runs: usize,
    pub ranks: usize,
    pub gpus: usize,
    pub arch: Vec<String>,
    pub iterations: usize,
    /// XXH3 (128 bits) of the digests of its runs, concatenated as they would be saved.
    pub digest: Option<String>,
}

/// A time with its test.
#[derive(Clone, Debug, Serialize)]
pub struct Total {
    pub metric: String,
    pub base_ns: i64,
    pub new_ns: i64,
    pub delta_ns: i64,
    /// Relative change of the mean times above.
    pub pct: Option<f64>,
    /// Relative change of typical iterations, which outliers do not affect; this change is tested.
    pub typical_pct: Option<f64>,
    pub ci_low_pct: Option<f64>,
    pub ci_high_pct: Option<f64>,
    pub resolution_pct: Option<f64>,
    pub unit: Option<&'static str>,
    pub samples: usize,
    pub verdict: Option<&'static str>,
    pub verdict_why: Option<&'static str>,
}

/// A part of the span; `gpu` is null for the mean over all GPUs.
#[derive(Clone, Debug, Serialize)]
pub struct PartRow {
    pub gpu: Option<String>,
    pub part: String,
    pub parent: Option<String>,
    pub base_ns: i64,
    pub new_ns: i64,
    pub delta_ns: i64,
}

/// A part of the critical path; `kernel` is the name of the kernel, copy or call, also for waits.
#[derive(Clone, Debug, Serialize)]
pub struct PathRow {
    pub kind: String,
    pub kernel: Option<String>,
    pub base_ns: i64,
    pub new_ns: i64,
    pub delta_ns: i64,
}

/// Kernels that replaced others, with the time of all of them.
#[derive(Clone, Debug, Serialize)]
pub struct ReplacedRow {
    pub base: Vec<String>,
    pub new: Vec<String>,
    pub base_ns: i64,
    pub new_ns: i64,
    pub delta_ns: i64,
}

/// A counter of a kernel: means over the dispatches.
#[derive(Clone, Debug, Serialize)]
pub struct CounterRow {
    pub kernel: String,
    pub counter: String,
    pub base: f64,
    pub new: f64,
    pub delta: f64,
    pub ratio: Option<f64>,
    pub ci_low: Option<f64>,
    pub ci_high: Option<f64>,
    pub resolution_pct: Option<f64>,
    pub p_holm: Option<f64>,
    pub base_dispatches: i64,
    pub new_dispatches: i64,
    /// `higher`, `lower`, `same`, `unclear` or `too_few`.
    pub verdict: &'static str,
}

/// A kernel that one or both sides have.
#[derive(Clone, Debug, Serialize)]
pub struct KernelRow {
    pub key: String,
    pub family: String,
    pub category: String,
    pub matched_by: Option<&'static str>,
    pub base_name: Option<String>,
    pub new_name: Option<String>,
    pub problem: Option<String>,
    pub base_calls: f64,
    pub new_calls: f64,
    pub base_total_ns: i64,
    pub new_total_ns: i64,
    pub delta_ns: i64,
    pub calls_effect_ns: Option<i64>,
    pub speed_effect_ns: Option<i64>,
    pub mix_effect_ns: Option<i64>,
    pub selection_effect_ns: Option<i64>,
    pub clock_effect_ns: Option<i64>,
    pub path_delta_ns: Option<i64>,
    pub ratio: Option<f64>,
    pub ci_low: Option<f64>,
    pub ci_high: Option<f64>,
    pub resolution_pct: Option<f64>,
    pub resolution_why: Option<&'static str>,
    pub p_holm: Option<f64>,
    pub unit: Option<&'static str>,
    pub samples: usize,
    pub share_pct: f64,
    pub clock_pct: Option<f64>,
    pub cycles_pct: Option<f64>,
    pub clock_why: Option<&'static str>,
    pub changed_gpus: Vec<ChangedGpu>,
    pub tail_changed: Option<Tail>,
    pub verdict: &'static str,
}

/// A GPU on which a kernel surely changed, although the mean over all GPUs does not show it.
#[derive(Clone, Debug, Serialize)]
pub struct ChangedGpu {
    pub rank: i64,
    pub gpu: i64,
    pub ratio: f64,
}

/// Durations of the slowest dispatches, if totals changed differently from typical durations.
#[derive(Clone, Debug, Serialize)]
pub struct Tail {
    pub base_p95_ns: i64,
    pub new_p95_ns: i64,
    pub base_p99_ns: i64,
    pub new_p99_ns: i64,
}

#[derive(Clone, Debug, Serialize)]
pub struct OneSided {
    pub kernel: String,
    pub category: String,
    pub calls: f64,
    pub total_ns: i64,
}

#[derive(Clone, Debug, Serialize)]
pub struct Renamed {
    pub base: String,
    pub new: String,
    pub matched_by: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub struct Delta {
    pub name: String,
    pub base_ns: i64,
    pub new_ns: i64,
    pub delta_ns: i64,
}

#[derive(Clone, Debug, Serialize)]
pub struct RankRow {
    pub rank: i64,
    pub gpu: i64,
    pub base_span_ns: i64,
    pub new_span_ns: i64,
    pub delta_ns: i64,
    pub busy_delta_ns: i64,
    pub idle_delta_ns: i64,
}

#[derive(Clone, Debug, Serialize)]
pub struct IterationRow {
    pub side: &'static str,
    pub run: usize,
    pub rank: i64,
    pub gpu: i64,
    pub iteration: usize,
    pub duration_ns: i64,
    pub busy_ns: i64,
}

/// Decision of `--fail-on`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Gate {
    pub rules: Vec<String>,
    pub failed: Vec<GateResult>,
    pub undecided: Vec<GateResult>,
}

#[derive(Clone, Debug, Serialize)]
pub struct GateResult {
    pub rule: String,
    pub reason: String,
}

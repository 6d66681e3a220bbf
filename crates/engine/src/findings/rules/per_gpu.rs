//! Sums of times over GPUs, and the GPU with the largest share.

use std::collections::BTreeMap;

use crate::findings::awaited::awaited_gpus;
use crate::findings::priority::Priority;
use crate::findings::rule_context::{Observation, Rows, RuleContext};
use crate::findings::spans::gpu_of;
use wavesieve_model::analysis::collectives::matching::MedianDeviation;
use wavesieve_model::analysis::thresholds::Thresholds;

/// Times of several GPUs.
pub(crate) struct PerGpu {
    /// Sum over all GPUs.
    pub total_ns: i64,
    /// Share of the spans of all GPUs in percent.
    pub pct: f64,
    /// Rank and GPU with the largest share of its own span, the first of equals.
    pub worst: (i64, i64),
    /// That share in percent.
    pub worst_pct: f64,
    /// Its time in nanoseconds.
    pub worst_ns: i64,
    /// Whether that GPU exceeds the spread of the others.
    stands_out: bool,
    /// GPUs that were used.
    gpus: usize,
    /// Rows, the largest time first.
    pub places: Vec<usize>,
}

/// Adds up times by rank and GPU; several rows of a GPU are summed.
pub fn per_gpu(case: &RuleContext<'_>, rows: &Rows<'_>, places: Vec<usize>, time: impl Fn(usize) -> i64) -> PerGpu {
    let mut of_gpu: BTreeMap<(i64, i64), i64> = BTreeMap::new();
    for row in &places {
        let sum = of_gpu.entry(gpu_of(rows, *row)).or_default();
        *sum = sum.saturating_add(time(*row));
    }
    let mut worst = ((0, 0), 0.0, 0);
    for (key, ns) in &of_gpu {
        let pct = RuleContext::pct(*ns, case.spans.span_ns(*key));
        if pct > worst.1 {
            worst = (*key, pct, *ns);
        }
    }
    let thousandths = |(key, ns): (&(i64, i64), &i64)| (RuleContext::pct(*ns, case.spans.span_ns(*key)) * 1e3) as i64;
    let mut shares: Vec<i64> = of_gpu.iter().map(thousandths).collect();
    shares.resize(shares.len().max(case.spans.gpus()), 0);
    let total_ns = of_gpu.values().fold(0_i64, |sum, ns| sum.saturating_add(*ns));
    let mut places = places;
    places.sort_by_key(|row| (std::cmp::Reverse(time(*row)), *row));
    PerGpu {
        total_ns,
        pct: case.pct_of_spans(total_ns),
        worst: worst.0,
        worst_pct: worst.1,
        worst_ns: worst.2,
        stands_out: stands_out(shares, (worst.1 * 1e3) as i64),
        gpus: case.spans.gpus(),
        places,
    }
}

/// Whether a value exceeds the spread of all: `[stands_out]` of the thresholds.
fn stands_out(mut all: Vec<i64>, value: i64) -> bool {
    let bounds = &Thresholds::builtin().stands_out;
    let is_far = |MedianDeviation { median_ns, deviation_ns }| {
        let distance = value.saturating_sub(median_ns) as f64;
        distance > median_ns as f64 * bounds.min_excess_pct / 100.0
            && distance > bounds.min_distances * 1.4826 * deviation_ns as f64
    };
    all.len() >= bounds.min_gpus && MedianDeviation::compute(&mut all).is_some_and(is_far)
}

impl PerGpu {
    /// The priority of the share of all spans. It is low if only single GPUs reach the threshold for medium, because other GPUs may have to
    /// wait for them.
    pub fn priority(&self, case: &RuleContext<'_>) -> Option<Priority> {
        let of_one = || (self.worst_pct > case.threshold("medium_pct")).then_some(Priority::Low);
        case.priority(self.pct, "pct").or_else(of_one)
    }

    /// The same for time that makes a GPU late: if it stands out and others may wait for it, its own share counts.
    pub(crate) fn priority_of_late(&self, case: &RuleContext<'_>) -> Option<Priority> {
        let is_waited_for = self.stands_out && awaited_gpus(case.answers, case.view).contains(&self.worst);
        let of_worst = || case.priority(self.worst_pct, "pct").filter(|_| is_waited_for);
        of_worst().or_else(|| self.priority(case))
    }

    /// The observation, with these numbers for the texts.
    pub(crate) fn observation(&self, priority: impl Into<Option<Priority>>) -> Observation {
        Observation::new(priority)
            .value("pct", self.pct)
            .value("total_ns", self.total_ns)
            .value("gpus", self.gpus)
            .value("stands_out", self.stands_out)
            .value("worst_rank", self.worst.0)
            .value("worst_gpu", self.worst.1)
            .value("worst_pct", self.worst_pct)
    }
}

//! The main limit of a run, in a word.

use serde::{Deserialize, Serialize};

use super::answers::Answers;
use super::collected::Collected;
use super::questions::time_question;
use super::rule_book::{RuleBook, RuleText};
use super::rule_context::RuleContext;
use super::rules::bottleneck_shares;
use super::spans::{BROKEN_SPAN, Spans};
use crate::Registry;
use wavesieve_tables::trace::views::View;

/// Id of the thresholds in the rule book.
pub(crate) const SUMMARY: &str = "summary";

/// The main limit of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Arithmetic units, by counters.
    Compute,
    /// Copies that nothing hides.
    MemoryTransfer,
    /// Bandwidth of memory or cache, by counters.
    MemoryBandwidth,
    /// GPUs wait for the host, or wavefronts for data.
    Latency,
    /// Communication that nothing hides.
    Communication,
    /// Several similar limits.
    Mixed,
    /// GPUs compute, and no data shows their limit.
    Unknown,
}

impl Limit {
    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::MemoryTransfer => "memory_transfer",
            Self::MemoryBandwidth => "memory_bandwidth",
            Self::Latency => "latency",
            Self::Communication => "communication",
            Self::Mixed => "mixed",
            Self::Unknown => "unknown",
        }
    }
}

/// The main limit of a run, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    pub limit: Limit,
    /// How sure the limit is, from 0 to 1.
    pub confidence: f64,
}

/// Shares of the spans of all GPUs in percent. Together with time that only computes they add up to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Copies while nothing else runs.
    pub exposed_copy: f64,
    /// Communication while nothing computes.
    pub exposed_communication: f64,
    /// Nothing runs.
    pub idle: f64,
    /// A compute kernel runs.
    pub compute: f64,
}

/// The main limit of a view of the run: `None` if no GPU worked. The thresholds are under `summary` in the rule book.
pub fn verdict(
    answers: &Answers,
    registry: &Registry,
    book: &RuleBook,
    collected: &Collected,
    view: View,
) -> Option<Verdict> {
    let rows = answers.rows(time_question().of_view(view));
    let sum = |column: &str| rows.sum(rows.places(), column);
    let spans = Spans::new(answers, view, book.get(BROKEN_SPAN));
    let spans_ns = spans.total_ns();
    if spans_ns <= 0 {
        return None;
    }
    let share = |column: &str| RuleContext::pct(sum(column), spans_ns);
    let shares = Shares {
        exposed_copy: share("exposed_copy_ns"),
        exposed_communication: share("exposed_comm_ns"),
        idle: RuleContext::pct(sum("idle_ns").saturating_sub(spans.all_left_out_ns()), spans_ns),
        compute: share("compute_ns"),
    };
    let rule = book.get(SUMMARY)?;
    let case = RuleContext {
        answers,
        registry,
        id: SUMMARY,
        rule,
        spans: &spans,
        collected,
        view,
        headline: view,
        iterations: None,
        min_saving_ns: 0.0,
    };
    let of = bottleneck_shares(&case);
    let sum_of = |ids: &[&str]| ids.iter().filter_map(|id| of.get(*id)).sum::<f64>();
    let kernels = [
        (Limit::Compute, sum_of(&["matrix_compute", "vector_compute"])),
        (Limit::MemoryBandwidth, sum_of(&["memory_bandwidth", "l2_bandwidth", "uncoalesced_access"])),
        (Limit::Latency, sum_of(&["under_occupied", "latency", "lds_conflicts", "atomics", "divergence"])),
    ];
    Some(classified(shares, kernels, rule))
}

/// Classifies by shares of the spans, and by shares of kernel time with each bottleneck.
fn classified(shares: Shares, kernels: [(Limit, f64); 3], rule: &RuleText) -> Verdict {
    let threshold = |name: &str| rule.thresholds.get(name).copied().unwrap_or(f64::NAN);
    let costs = [
        (Limit::MemoryTransfer, shares.exposed_copy),
        (Limit::Communication, shares.exposed_communication),
        (Limit::Latency, shares.idle),
    ];
    let most = costs.into_iter().fold((Limit::Unknown, 0.0), |most, cost| if cost.1 > most.1 { cost } else { most });
    if most.1 > threshold("sure_pct") {
        return Verdict { limit: most.0, confidence: 0.85 };
    }
    if most.1 > threshold("likely_pct") {
        return Verdict { limit: most.0, confidence: 0.7 };
    }
    if shares.compute <= threshold("compute_pct") {
        return Verdict { limit: Limit::Mixed, confidence: 0.5 };
    }
    match kernels.into_iter().find(|(_, pct)| *pct > threshold("kernel_pct")) {
        Some((limit, _)) => Verdict { limit, confidence: 0.8 },
        None if kernels.iter().any(|(_, pct)| *pct > 0.0) => Verdict { limit: Limit::Mixed, confidence: 0.5 },
        None => Verdict { limit: Limit::Unknown, confidence: 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(copy: f64, communication: f64, idle: f64, compute: f64, kernels: [f64; 3]) -> (&'static str, f64) {
        let book = RuleBook::builtin().unwrap();
        let shares = Shares { exposed_copy: copy, exposed_communication: communication, idle, compute };
        let [arithmetic, bandwidth, latency] = kernels;
        let kernels = [(Limit::Compute, arithmetic), (Limit::MemoryBandwidth, bandwidth), (Limit::Latency, latency)];
        let verdict = classified(shares, kernels, book.get(SUMMARY).unwrap());
        (verdict.limit.word(), verdict.confidence)
    }

    /// Summarizes like rocinsight, but with correct quantities: exposed instead of summed time, measured idle time instead of the rest, and
    /// never `compute` without counters.
    #[test]
    fn the_summary_follows_shares_and_counters() {
        let none = [0.0; 3];
        assert_eq!(limit(35.0, 0.0, 10.0, 55.0, none), ("memory_transfer", 0.85));
        assert_eq!(limit(30.0, 0.0, 10.0, 60.0, none), ("memory_transfer", 0.7));
        assert_eq!(limit(20.1, 0.0, 10.0, 69.0, none), ("memory_transfer", 0.7));
        assert_eq!(limit(20.0, 0.0, 10.0, 70.0, none), ("mixed", 0.5));
        assert_eq!(limit(0.0, 40.0, 5.0, 55.0, none), ("communication", 0.85));
        assert_eq!(limit(10.0, 0.0, 30.1, 59.0, none), ("latency", 0.85));
        // The largest share counts, not the first.
        assert_eq!(limit(21.0, 0.0, 72.0, 7.0, none), ("latency", 0.85));
        assert_eq!(limit(0.0, 0.0, 10.0, 90.0, none), ("unknown", 0.0));
        assert_eq!(limit(0.0, 0.0, 10.0, 90.0, [80.0, 10.0, 0.0]), ("compute", 0.8));
        assert_eq!(limit(0.0, 0.0, 10.0, 90.0, [10.0, 51.0, 0.0]), ("memory_bandwidth", 0.8));
        assert_eq!(limit(0.0, 0.0, 10.0, 90.0, [40.0, 40.0, 20.0]), ("mixed", 0.5));
    }
}

//! Ranks that delay others, and load imbalance.

use std::collections::BTreeSet;

use crate::findings::priority::Priority;
use crate::findings::questions::{collectives, imbalance, programs, stragglers, time_question};
use crate::findings::rule_context::{Observation, Rows, RuleContext};
use wavesieve_model::analysis::thresholds::Thresholds;

/// Reasons for a slow rank, from causes to mere consequences.
const REASONS: [(&str, &str); 5] = [
    ("slow_kernels", "the same kernels take longer on it"),
    ("more_work", "it has more or larger dispatches"),
    ("idle", "its GPU stands idle longer"),
    ("late", "it comes last to collectives, so that others wait"),
    ("compute", "it computes longer"),
];

/// Programs next to each other, which are not ranks of one run: the tables of ranks compare those of one.
pub(crate) fn separate_programs(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(programs());
    let places: Vec<usize> = rows.places().collect();
    let several = (places.len() > 1).then_some(Priority::Info);
    let run = places.iter().copied().find(|row| rows.text(*row, "compared") == Some("yes"));
    let columns = ["program", "processes", "first_rank", "last_rank", "compared", "kernels", "kernel_sum_ns"];
    Observation::new(several)
        .value("programs", places.len())
        .value("run_processes", run.and_then(|row| rows.integer(row, "processes")))
        .evidence(case.evidence(&rows, &places, &columns))
}

/// Whether the GPUs were recorded for as long: those that wait for each other start and end together, so that no span is many times as
/// long as another.
fn were_recorded_together(case: &RuleContext<'_>) -> bool {
    let rows = case.rows(time_question());
    let spans = || rows.places().filter_map(|row| rows.number(row, "span_ns"));
    let (least, most) = (spans().fold(f64::INFINITY, f64::min), spans().fold(0.0, f64::max));
    most <= least * case.threshold("max_span_ratio")
}

/// Minimum number of GPUs. With fewer, none can be identified as the odd one.
pub fn min_gpus() -> i64 {
    Thresholds::builtin().stands_out.min_gpus as i64
}

/// The GPU that delays the others most, if there are several ranks: GPUs of a single rank do not wait for another rank.
pub fn straggler(case: &RuleContext<'_>) -> Observation {
    let times = case.rows(time_question());
    let ranks: BTreeSet<Option<i64>> = times.places().map(|row| times.integer(row, "rank")).collect();
    if ranks.len() < 2 || !were_recorded_together(case) {
        return Observation::default();
    }
    let rows = case.rows(stragglers());
    let can_be_told = rows.places().all(|row| rows.integer(row, "gpus").is_some_and(|gpus| gpus >= min_gpus()));
    if !can_be_told {
        return Observation::default();
    }
    let places = rows.sorted_down(rows.places().collect(), "excess_ns");
    let Some(worst) = places.first().copied() else { return Observation::default() };
    let pct = rows.number(worst, "excess_pct").unwrap_or_default();
    let of = |row: usize| (rows.integer(row, "rank"), rows.integer(row, "gpu"));
    let own: Vec<&str> =
        places.iter().filter(|row| of(**row) == of(worst)).filter_map(|row| rows.text(*row, "what")).collect();
    let reasons: Vec<&str> = REASONS.iter().filter(|(what, _)| own.contains(what)).map(|(_, reason)| *reason).collect();
    // Longer compute time follows from either of these.
    let explained = own.contains(&"slow_kernels") || own.contains(&"more_work");
    let reasons: Vec<&str> =
        reasons.into_iter().filter(|reason| !explained || *reason != "it computes longer").collect();
    let others = places.iter().map(|row| of(*row)).collect::<BTreeSet<_>>().len() - 1;
    let excess_ns = rows.integer(worst, "excess_ns").unwrap_or_default();
    let gpus = rows.integer(worst, "gpus").unwrap_or(1);
    let is_always_last = places
        .iter()
        .filter(|row| of(**row) == of(worst))
        .any(|row| rows.number(*row, "last_pct").is_some_and(|last_pct| last_pct >= case.threshold("always_last_pct")));
    let columns =
        ["rank", "gpu", "hostname", "what", "amount_ns", "median_ns", "excess_ns", "excess_pct", "slower_pct", "z"];
    let waits = case.rows(collectives());
    let waited = most_waited(&waits);
    let (wait_ns, cost_ns) = (waits.sum(waits.places(), "wait_ns"), waits.sum(waits.places(), "cost_ns"));
    let comm_wait_pct = waited.map(|_| RuleContext::pct(wait_ns, wait_ns.saturating_add(cost_ns)));
    case.observe(pct)
        .integers(&rows, worst, &["rank", "gpu"])
        .value("hostname", rows.text(worst, "hostname"))
        .value("reasons", reasons.join(", and "))
        .value("excess_ns", excess_ns)
        .value("others", others)
        .value("slower_pct", slower_pct(&rows, of(worst)))
        .value("wait_pct", waited.and_then(|row| waits.number(row, "wait_pct")))
        .value("collective", waited.and_then(|row| waits.text(row, "kernel_name")))
        .value("comm_wait_pct", comm_wait_pct)
        .value("is_always_last", is_always_last)
        .value("ranks", gpus)
        .value("slow_kernels", own.contains(&"slow_kernels"))
        .value("more_work", own.contains(&"more_work"))
        .value("idle", own.contains(&"idle"))
        .saving(excess_ns.saturating_mul(gpus))
        .evidence(case.evidence(&rows, &places, &columns))
        .evidence(waited.and_then(|row| {
            case.evidence(&waits, &[row], &["kernel_name", "calls", "total_ns", "wait_ns", "wait_pct"])
        }))
}

/// How much longer the same kernels take on a GPU than on the others, in percent of the time that they would take.
fn slower_pct(rows: &Rows<'_>, gpu: (Option<i64>, Option<i64>)) -> Option<f64> {
    let is_own = |row: &usize| (rows.integer(*row, "rank"), rows.integer(*row, "gpu")) == gpu;
    rows.places().filter(is_own).find_map(|row| rows.number(row, "slower_pct"))
}

/// The collective in which ranks wait longest.
fn most_waited(rows: &Rows<'_>) -> Option<usize> {
    let waited = rows.matching(|rows, row| rows.number(row, "wait_pct").is_some_and(|pct| pct > 0.0));
    rows.sorted_down(waited, "wait_ns").first().copied()
}

/// Load imbalance without a single GPU that stands out.
pub(crate) fn imbalance_of_ranks(case: &RuleContext<'_>) -> Observation {
    let times = case.rows(time_question());
    // Without communication, GPUs do not wait, and each may have its own work.
    let alone = times.sum(times.places(), "comm_ns") == 0;
    if alone || !case.rows(stragglers()).is_empty() || !were_recorded_together(case) {
        return Observation::default();
    }
    let rows = case.rows(imbalance());
    let places = rows.matching(|rows, row| rows.text(row, "metric") == Some("compute"));
    let Some(row) = places.first().copied() else { return Observation::default() };
    let pct = rows.number(row, "excess_pct").unwrap_or_default();
    let gpus = rows.integer(row, "gpus").unwrap_or_default();
    let (Some(max), Some(mean)) = (rows.number(row, "max_ns"), rows.number(row, "mean_ns")) else {
        return Observation::default();
    };
    let saving_ns = ((max - mean) * gpus as f64) as i64;
    // Other GPUs cannot wait longer than the time in which they do not compute.
    let not_computing = |row: usize| {
        let of = |column: &str| times.integer(row, column).unwrap_or_default();
        of("span_ns").saturating_sub(of("compute_ns"))
    };
    let not_computing_ns = times.places().fold(0_i64, |sum, row| sum.saturating_add(not_computing(row)));
    if gpus < 2 || case.pct_of_spans(saving_ns) < case.threshold("min_span_pct") {
        return Observation::default();
    }
    let columns = [
        "metric",
        "gpus",
        "min_ns",
        "mean_ns",
        "max_ns",
        "excess_pct",
        "worst_rank",
        "worst_gpu",
        "least_rank",
        "least_gpu",
    ];
    case.observe(pct)
        .value("gpus", gpus)
        .value("max_ns", max)
        .value("mean_ns", mean)
        .integers(&rows, row, &["worst_rank", "worst_gpu", "least_rank", "least_gpu"])
        .saving(saving_ns.min(not_computing_ns))
        .evidence(case.evidence(&rows, &places, &columns))
}

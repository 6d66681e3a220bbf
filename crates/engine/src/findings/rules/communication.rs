//! Communication that is not hidden, and its waiting.

use std::collections::BTreeMap;

use super::ranks::min_gpus;
use super::time::exposed;
use crate::findings::priority::Priority;
use crate::findings::questions::{arrivals, collectives, kernels, stragglers};
use crate::findings::rule_context::{Observation, RuleContext};
use crate::findings::spans::gpu_of;

const COLUMNS: [&str; 7] = ["kernel_name", "calls", "matched", "total_ns", "cost_ns", "wait_ns", "wait_pct"];

/// Communication while nothing computes, and the share of waiting in all communication.
pub fn exposed_communication(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(collectives());
    let places = rows.sorted_down(rows.places().collect(), "total_ns");
    let matched = rows.sum(places.iter().copied(), "matched");
    let wait_ns = rows.sum(places.iter().copied(), "wait_ns");
    let cost_ns = rows.sum(places.iter().copied(), "cost_ns");
    let evidence = || (matched > 0).then(|| case.evidence(&rows, &places, &COLUMNS)).flatten();
    let observation = exposed(case, "exposed_comm_ns", "comm_ns")
        .value("matched", matched)
        .value("wait_ns", wait_ns)
        .value("wait_pct", RuleContext::pct(wait_ns, wait_ns.saturating_add(cost_ns)))
        .evidence(evidence());
    let names = case.rows(kernels());
    let of_rccl =
        |row: usize| names.text(row, "kernel_name").is_some_and(|name| name.contains("nccl") || name.contains("rccl"));
    // Only RCCL records the calls of its kernels.
    if names.places().any(of_rccl) { observation } else { observation.without("rccl_trace") }
}

/// Count of how often a GPU came last to its collectives.
struct Latest {
    rank: i64,
    gpu: i64,
    last_calls: i64,
    calls: i64,
}

impl Latest {
    fn pct(&self) -> f64 {
        RuleContext::pct(self.last_calls, self.calls)
    }
}

/// The GPU that came last to the largest share of its collectives; the first of equals. Also the places of the rows of all GPUs, sorted
/// down by how often they came last.
fn latest(case: &RuleContext<'_>) -> Option<(Latest, Vec<usize>)> {
    let rows = case.rows(arrivals());
    let places = rows.matching(|rows, row| rows.integer(row, "matched").is_some_and(|matched| matched > 0));
    let mut of_gpu: BTreeMap<(i64, i64), (i64, i64)> = BTreeMap::new();
    for row in &places {
        let counts = of_gpu.entry(gpu_of(&rows, *row)).or_default();
        counts.0 = counts.0.saturating_add(rows.integer(*row, "last_calls").unwrap_or_default());
        counts.1 = counts.1.saturating_add(rows.integer(*row, "matched").unwrap_or_default());
    }
    let all = of_gpu.into_iter().map(|((rank, gpu), (last_calls, calls))| Latest { rank, gpu, last_calls, calls });
    let most = all.reduce(|most, one| if one.pct() > most.pct() { one } else { most })?;
    Some((most, rows.sorted_down(places, "last_calls")))
}

/// GPUs that wait for one another in collectives. The last one is always the same, or varies.
pub fn collective_wait(case: &RuleContext<'_>) -> Observation {
    let (latest, arrivals_down) = latest(case).map_or((None, Vec::new()), |(latest, places)| (Some(latest), places));
    let is_always = |latest: &Latest| {
        latest.calls as f64 >= case.threshold("min_calls") && latest.pct() >= case.threshold("always_last_pct")
    };
    let always = latest.as_ref().filter(|latest| is_always(latest));
    // The rule about stragglers reports a GPU that delays the others, unless another one is always late.
    let stragglers = case.rows(stragglers());
    let told = stragglers.matching(|rows, row| rows.integer(row, "gpus").is_some_and(|gpus| gpus >= min_gpus()));
    let is_told = |row: &usize| always.is_none_or(|latest| gpu_of(&stragglers, *row) == (latest.rank, latest.gpu));
    if told.iter().any(is_told) {
        return Observation::default();
    }
    let rows = case.rows(collectives());
    let places = rows.matching(|rows, row| rows.integer(row, "matched").is_some_and(|matched| matched > 0));
    let wait_ns = rows.sum(places.iter().copied(), "wait_ns");
    let cost_ns = rows.sum(places.iter().copied(), "cost_ns");
    let pct = case.pct_of_spans(wait_ns);
    // Waiting below the share that matters may still come from a single GPU.
    let of_one = || (always.is_some() && pct > case.threshold("always_last_info_pct")).then_some(Priority::Info);
    let places = rows.sorted_down(places, "wait_ns");
    let columns = ["kernel_name", "matched", "cost_ns", "wait_ns", "wait_pct", "max_wait_ns", "median_skew_ns"];
    let of_gpus = ["rank", "gpu", "kernel_name", "matched", "last_calls", "last_pct", "late_ns", "wait_ns"];
    Observation::new(case.priority(pct, "pct").or_else(of_one))
        .value("pct", pct)
        .value("wait_ns", wait_ns)
        .value("cost_ns", cost_ns)
        .value("wait_pct", RuleContext::pct(wait_ns, wait_ns.saturating_add(cost_ns)))
        .value("calls", rows.sum(places.iter().copied(), "matched"))
        .value("always", always.is_some())
        .value("rank", always.map(|latest| latest.rank))
        .value("last_rank", latest.as_ref().map(|latest| latest.rank))
        .value("last_gpu", latest.as_ref().map(|latest| latest.gpu))
        .value("last_calls", latest.as_ref().map(|latest| latest.last_calls))
        .value("last_of", latest.as_ref().map(|latest| latest.calls))
        .saving(wait_ns)
        .evidence(case.evidence(&rows, &places, &columns))
        .evidence(case.evidence(&case.rows(arrivals()), &arrivals_down, &of_gpus))
}

/// Many collectives of little data, whose cost is latency.
pub(crate) fn small_collectives(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(collectives());
    let least = case.threshold("min_calls");
    let most_bytes = case.threshold("small_bytes");
    let places = rows.matching(|rows, row| {
        let bytes = rows.number(row, "mean_message_bytes");
        bytes.is_some_and(|bytes| bytes < most_bytes) && rows.number(row, "sized").is_some_and(|calls| calls >= least)
    });
    let cost_ns = rows.sum(places.iter().copied(), "cost_ns");
    let pct = case.pct_of_spans(cost_ns);
    let places = rows.sorted_down(places, "cost_ns");
    let columns = ["kernel_name", "sized", "mean_message_bytes", "cost_ns", "algorithm_gb_per_s", "bus_gb_per_s"];
    case.observe(pct)
        .value("cost_ns", cost_ns)
        .value("calls", rows.sum(places.iter().copied(), "sized"))
        .value("mean_bytes", places.first().and_then(|row| rows.number(*row, "mean_message_bytes")))
        .saving(cost_ns)
        .evidence(case.evidence(&rows, &places, &columns))
}

//! Kernels that dominate, vary, or start slowly.

use std::collections::BTreeSet;

use super::counters::roof_of;
use super::health::durations_migrate;
use super::per_gpu::per_gpu;
use crate::findings::priority::Priority;
use crate::findings::questions::{
    self as ask, bottlenecks, chains, iterations, kernel_pace, kernels, matrix_shapes, outliers, queues, warm_up,
};
use crate::findings::rule_context::{Observation, RuleContext};

/// Category of kernels that wait for other GPUs; their time depends on more than the kernel.
pub const COMMUNICATION: &str = "communication";
/// Maximum number of kernels with findings of their own, per rule.
pub const MAX_KERNELS: usize = 3;

/// Kernels that take much of the compute time, if neither counters nor a thread trace reveal their limit. Otherwise the rules about
/// bottlenecks and instructions report them.
pub fn dominant_kernel(case: &RuleContext<'_>) -> Vec<Observation> {
    if durations_migrate(case) {
        return Vec::new();
    }
    let rows = case.rows(kernels());
    let computes = rows.matching(|rows, row| rows.text(row, "category") != Some(COMMUNICATION));
    let compute_ns = rows.sum(computes.iter().copied(), "total_ns");
    // The time of all kernels, as in the tables.
    let kernel_ns = rows.sum(rows.places(), "total_ns");
    let known = case.rows(bottlenecks());
    let mut observations = Vec::new();
    for row in rows.sorted_down(computes, "total_ns").into_iter().take(MAX_KERNELS) {
        let (Some(name), Some(total_ns)) = (rows.text(row, "kernel_name"), rows.integer(row, "total_ns")) else {
            continue;
        };
        let own = known.matching(|rows, row| rows.text(row, "kernel_name") == Some(name));
        let told = own.iter().any(|row| known.text(*row, "state") == Some("yes"))
            || case.collected.traced_kernels.contains(name);
        let span_pct = case.pct_of_spans(total_ns);
        let pct = RuleContext::pct(total_ns, compute_ns);
        if told || span_pct < case.threshold("min_span_pct") {
            continue;
        }
        let columns = ["kernel_name", "category", "calls", "total_ns", "mean_ns", "median_ns", "max_ns", "pct"];
        let mut observation = case
            .observe(pct)
            .about_kernel(name)
            .value("wall", case.wall(total_ns).text())
            .value("kernel_pct", RuleContext::pct(total_ns, kernel_ns))
            .value("span_pct", span_pct)
            .value("total_ns", total_ns)
            .value("calls", rows.integer(row, "calls"))
            .value("mean_ns", rows.number(row, "mean_ns"))
            .value("category", rows.text(row, "category").unwrap_or("other"))
            .value("counted", !own.is_empty())
            .value("generated", name.starts_with("triton_"))
            .evidence(case.evidence(&rows, &[row], &columns));
        // A kernel cannot save all of its time, and what it can is known only with its roof.
        if let Some((roof_pct, _, _)) = roof_of(case, name) {
            observation = observation.saving((total_ns as f64 * (1.0 - roof_pct / 100.0)) as i64);
        }
        observations.push(observation);
    }
    observations
}

/// First calls of kernels that take much longer than the later ones.
pub(crate) fn slow_first_calls(case: &RuleContext<'_>) -> Observation {
    if durations_migrate(case) {
        return Observation::default();
    }
    let rows = case.rows(warm_up());
    let places = rows.matching(|rows, row| rows.integer(row, "slow_first_calls").is_some_and(|calls| calls > 0));
    let slow = per_gpu(case, &rows, places, |row| rows.integer(row, "excess_ns").unwrap_or_default());
    let first = slow.places.first().copied();
    let columns = ["rank", "gpu", "kernel_name", "calls", "first_ns", "rest_median_ns", "ratio", "excess_ns"];
    slow.observation(case.priority(slow.worst_pct, "pct"))
        .value("calls", rows.sum(slow.places.iter().copied(), "slow_first_calls"))
        .value("kernel", first.and_then(|row| rows.text(row, "kernel_name")).unwrap_or("one kernel"))
        .value("ratio", first.and_then(|row| rows.number(row, "ratio")).map(|ratio| (ratio * 10.0).round() / 10.0))
        .saving(slow.total_ns)
        .of_worst(slow.worst, slow.worst_ns)
        .evidence(case.evidence(&rows, &slow.places, &columns))
}

/// The kernels whose category is communication.
pub fn communication_kernels<'a>(case: &RuleContext<'a>) -> BTreeSet<&'a str> {
    let rows = case.rows(kernels());
    let places = rows.matching(|rows, row| rows.text(row, "category") == Some(COMMUNICATION));
    places.into_iter().filter_map(|row| rows.text(row, "kernel_name")).collect()
}

/// Dispatches that take much longer than others of the same kernel and shape.
pub fn outlying_dispatches(case: &RuleContext<'_>) -> Observation {
    if durations_migrate(case) {
        return Observation::default();
    }
    let rows = case.rows(outliers());
    let communicates = communication_kernels(case);
    // First calls and communication are reported by the rules about them.
    let places = rows.matching(|rows, row| {
        rows.integer(row, "outliers") > rows.integer(row, "first_calls")
            && rows.text(row, "kernel_name").is_some_and(|name| !communicates.contains(name))
    });
    let outlying = per_gpu(case, &rows, places, |row| rows.integer(row, "excess_ns").unwrap_or_default());
    let first = outlying.places.first().copied();
    let columns =
        ["rank", "gpu", "kernel_name", "calls", "outliers", "median_ns", "worst_ns", "excess_ns", "worst_dispatch_id"];
    outlying
        .observation(case.priority(outlying.worst_pct, "pct"))
        .value("outliers", rows.sum(outlying.places.iter().copied(), "outliers"))
        .value("kernels", outlying.places.len())
        .value("kernel", first.and_then(|row| rows.text(row, "kernel_name")).unwrap_or("one kernel"))
        .numbers(&rows, first.unwrap_or(usize::MAX), &["worst_ns", "median_ns"])
        .saving(outlying.total_ns)
        .of_worst(outlying.worst, outlying.worst_ns)
        .evidence(case.evidence(&rows, &outlying.places, &columns))
}

/// Kernels that have two durations for the same shape.
pub(crate) fn two_modes(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(kernel_pace());
    // Cost of the longer mode: its share of the calls by the distance of the modes. A few slow calls are outliers and not a mode.
    let least = case.threshold("min_mode_pct");
    let is_mode = |pct: f64| pct >= least && pct <= 100.0 - least;
    let cost = |row: usize| {
        let share = rows.number(row, "high_mode_pct").filter(|pct| is_mode(*pct))?;
        let longer = rows.number(row, "high_mode_ns")? - rows.number(row, "low_mode_ns")?;
        Some((longer * rows.number(row, "calls")? * share / 100.0) as i64)
    };
    let columns =
        ["rank", "gpu", "kernel_name", "calls", "low_mode_ns", "high_mode_ns", "high_mode_pct", "mode_gap_pct"];
    paced(case, &["two modes", "both"], |row| cost(row).unwrap_or_default(), |_| false, &columns)
}

/// Kernels that get slower over the run.
pub fn drift(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(kernel_pace());
    // The cost is the time beyond the pace of the first third.
    let cost = |row: usize| {
        let at_first = rows.number(row, "early_median_ns")? * rows.number(row, "calls")?;
        Some((rows.number(row, "total_ns")? - at_first) as i64)
    };
    let columns =
        ["rank", "gpu", "kernel_name", "calls", "early_median_ns", "late_median_ns", "drift_pct", "run_drift_pct"];
    let slower = |row: usize| rows.number(row, "drift_pct").is_some_and(|pct| pct > 0.0);
    // A kernel that gets much slower may cost little now, and more the longer the run is.
    let much = |row: usize| rows.number(row, "run_drift_pct").is_some_and(|pct| pct > case.threshold("info_drift_pct"));
    let cost = |row: usize| if slower(row) { cost(row).unwrap_or_default() } else { 0 };
    paced(case, &["drifting", "both"], cost, much, &columns)
}

/// Observation of kernels with these verdicts and their cost. If the cost is small, it has priority info at most, and only if one of them
/// is `remarkable`.
fn paced(
    case: &RuleContext<'_>,
    verdicts: &[&str],
    cost: impl Fn(usize) -> i64,
    remarkable: impl Fn(usize) -> bool,
    columns: &[&str],
) -> Observation {
    if durations_migrate(case) {
        return Observation::default();
    }
    let rows = case.rows(kernel_pace());
    let is_meant = |row: usize| rows.text(row, "verdict").is_some_and(|verdict| verdicts.contains(&verdict));
    // Where steps jump, so do their kernels; the jump is a finding of its own.
    let steps = case.rows(iterations());
    let jumps = steps.matching(|steps, row| steps.integer(row, "levels").is_some_and(|levels| levels > 1));
    let jumps: BTreeSet<Option<i64>> = jumps.into_iter().map(|row| steps.integer(row, "rank")).collect();
    let places =
        rows.matching(|rows, row| is_meant(row) && cost(row) > 0 && !jumps.contains(&rows.integer(row, "rank")));
    let paced = per_gpu(case, &rows, places, cost);
    let of_cost = case.priority(paced.worst_pct, "pct");
    let first = match of_cost {
        Some(_) => paced.places.first().copied(),
        None if paced.worst_pct > case.threshold("info_cost_pct") => {
            paced.places.iter().copied().find(|row| remarkable(*row))
        }
        None => None,
    };
    let Some(first) = first else { return Observation::default() };
    paced
        .observation(of_cost.unwrap_or(Priority::Info))
        .value(
            "kernels",
            paced.places.iter().filter_map(|row| rows.text(*row, "kernel_name")).collect::<BTreeSet<_>>().len(),
        )
        .value("kernel", rows.text(first, "kernel_name").unwrap_or("one kernel"))
        .value("low_ns", rows.number(first, "low_mode_ns"))
        .value("high_ns", rows.number(first, "high_mode_ns"))
        .value("high_pct", rows.number(first, "high_mode_pct"))
        .value("drift_pct", rows.number(first, "run_drift_pct"))
        .saving(paced.total_ns)
        .of_worst(paced.worst, paced.worst_ns)
        .evidence(case.evidence(&rows, &paced.places, columns))
}

/// Chains of short kernels with pauses between them, which occur again and again.
pub(crate) fn fusion_candidates(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(chains());
    // The pauses of pairs are disjoint: each lies between two kernels that follow one another on a queue.
    let pairs = rows.matching(|rows, row| rows.integer(row, "length") == Some(2));
    let pause_ns = rows.sum(pairs.iter().copied(), "pause_ns");
    let pct = case.pct_of_spans(pause_ns);
    let places = rows.sorted_down(rows.places().collect(), "pause_ns");
    let columns = ["chain", "length", "occurrences", "kernel_ns", "pause_ns", "mean_pause_ns"];
    case.observe(pct)
        .value("pause_ns", pause_ns)
        .value("kernel_ns", rows.sum(pairs.iter().copied(), "kernel_ns"))
        .value("pairs", rows.sum(pairs.iter().copied(), "occurrences"))
        .value("chains", rows.places().len())
        .saving(pause_ns)
        .evidence(case.evidence(&rows, &places, &columns))
}

/// Shapes of matrix products that are slower than products of the same types and a similar size.
pub(crate) fn slow_matrix_shapes(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(matrix_shapes());
    let behind = |row: usize| -rows.number(row, "vs_similar_pct").unwrap_or_default();
    // The time that a shape would save at the speed of similar shapes.
    let lost = |row: usize| rows.number(row, "total_ns").unwrap_or_default() * behind(row) / 100.0;
    let mut places = rows.matching(|_, row| behind(row) > case.threshold("behind_pct"));
    let lost_ns: f64 = places.iter().copied().map(lost).sum();
    let pct = case.pct_of_spans(lost_ns as i64);
    places.sort_by(|one, other| lost(*other).total_cmp(&lost(*one)).then(one.cmp(other)));
    let Some(first) = places.first().copied() else { return Observation::default() };
    let size = |name: &str| rows.integer(first, name).map_or_else(|| "?".to_owned(), |size| size.to_string());
    let columns = [
        "library",
        "m",
        "n",
        "k",
        "batch",
        "transposed",
        "type",
        "solution_index",
        "calls",
        "total_ns",
        "tflop_per_s",
        "similar_tflop_per_s",
        "vs_similar_pct",
    ];
    case.observe(pct)
        .value("shapes", places.len())
        .value("lost_ns", lost_ns as i64)
        .value("worst", format!("{} x {} x {}", size("m"), size("n"), size("k")))
        .value("type", rows.text(first, "type").unwrap_or_default())
        .numbers(&rows, first, &["tflop_per_s", "similar_tflop_per_s"])
        .evidence(case.evidence(&rows, &places, &columns))
}

/// GPUs that ran at a low clock.
pub fn throttling(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(ask::throttling());
    let places = rows.matching(|rows, row| rows.text(row, "verdict").is_some_and(|verdict| verdict != "none"));
    // Time that the kernels would save at the highest clock, if their time scales with the clock.
    let cost = |row: usize| {
        let slower = 1.0 - rows.number(row, "mean_mhz")? / rows.number(row, "top_mhz").filter(|mhz| *mhz > 0.0)?;
        Some((rows.number(row, "low_ns")? * slower.max(0.0)) as i64)
    };
    let low = per_gpu(case, &rows, places, |row| cost(row).unwrap_or_default());
    let Some(first) = low.places.first().copied() else { return Observation::default() };
    let verdict = rows.text(first, "verdict").unwrap_or_default();
    let known = verdict.starts_with("throttling");
    let columns = ["rank", "gpu", "top_mhz", "mean_mhz", "min_mhz", "low_pct_of_time", "max_w", "max_c", "verdict"];
    let observation = low
        .observation(case.priority(low.worst_pct, "pct"))
        .value("verdict", verdict)
        .value("gpus_low", low.places.len())
        .value("low_pct", rows.number(first, "low_pct_of_time"))
        .value("mean_mhz", rows.number(first, "mean_mhz").map(f64::round))
        .value("top_mhz", rows.number(first, "top_mhz").map(f64::round))
        .saving(low.total_ns)
        .of_worst(low.worst, low.worst_ns)
        .evidence(case.evidence(&rows, &low.places, &columns));
    // A low clock may also come from a GPU that has little to do.
    if known { observation } else { observation.confidence(0.4) }
}

/// Queues that were full, so that launching calls had to wait.
pub(crate) fn full_queue(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(queues());
    let ns = |row: usize, column: &str| rows.integer(row, column).unwrap_or_default();
    let full = |row: usize| RuleContext::pct(ns(row, "full_ns"), ns(row, "span_ns"));
    let mut places = rows.matching(|_, row| full(row) > 0.0);
    places.sort_by(|one, other| full(*other).total_cmp(&full(*one)).then(one.cmp(other)));
    let Some(first) = places.first().copied() else { return Observation::default() };
    let columns = ["rank", "gpu", "queue_id", "span_ns", "full_ns", "mean_depth", "max_depth"];
    case.observe(full(first))
        .value("queues", places.len())
        .value("depth", rows.integer(first, "max_depth"))
        .evidence(case.evidence(&rows, &places, &columns))
}

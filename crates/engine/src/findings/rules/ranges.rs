//! ROCTx ranges and iterations.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::findings::priority::Priority;
use crate::findings::questions::{coverage, iterations, range_pace, time_question};
use crate::findings::rule_context::{Observation, RuleContext};

/// Reports GPU work outside of all ranges.
pub(crate) fn work_outside_ranges(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(coverage());
    let of = |launch: &str| rows.places().find(|row| rows.text(*row, "launch") == Some(launch));
    // If there are no ranges at all, the user did not request them.
    let (Some(_), Some(outside)) = (of("range"), of("outside")) else { return Observation::default() };
    let pct = rows.number(outside, "pct").unwrap_or_default();
    let places: Vec<usize> = rows.places().collect();
    let columns = ["launch", "kernels", "kernel_ns", "copies", "copy_ns", "pct"];
    case.observe(pct).integers(&rows, outside, &["gpu_ns"]).evidence(case.evidence(&rows, &places, &columns))
}

/// Reports iterations that take much longer than most.
pub fn uneven_iterations(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(iterations());
    let excess = |row: usize| {
        // A median over two levels says nothing.
        let steady =
            rows.number(row, "steady").filter(|_| rows.integer(row, "levels").is_none_or(|levels| levels < 2))?;
        (steady >= case.threshold("min_steps")).then(|| rows.number(row, "longer_ns").unwrap_or_default() as i64)
    };
    // A gap that is not idle time is not a slow iteration either.
    let broken: BTreeSet<i64> = case.spans.broken_gpus().map(|(rank, _)| rank).collect();
    let is_whole = |row: usize| rows.integer(row, "rank").is_some_and(|rank| !broken.contains(&rank));
    let mut places = rows.matching(|_, row| is_whole(row) && excess(row).is_some_and(|excess| excess > 0));
    places.sort_by_key(|row| (std::cmp::Reverse(excess(*row)), *row));
    let Some(first) = places.first().copied() else { return Observation::default() };
    let longer_ns = excess(first).unwrap_or_default();
    let pct = RuleContext::pct(longer_ns, rows.integer(first, "steady_ns").unwrap_or_default());
    let columns = ["rank", "iterations", "steady", "steady_ns", "median_ns", "longer_ns", "min_ns", "max_ns"];
    case.observe(pct)
        .integers(&rows, first, &["rank", "steady"])
        .numbers(&rows, first, &["median_ns", "max_ns"])
        .value("unit", rows.text(first, "unit").unwrap_or("iteration"))
        .value("longer_ns", longer_ns)
        .evidence(case.evidence(&rows, &places, &columns))
}

/// Iterations that take another time from one of them on.
pub fn jump(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(iterations());
    let change = |row: usize| {
        let (before, after) = (rows.number(row, "before_jump_ns")?, rows.number(row, "after_jump_ns")?);
        Some((after - before).abs() / before.min(after).max(1.0) * 100.0)
    };
    let mut places = rows.matching(|_, row| change(row).is_some());
    places.sort_by(|one, other| {
        change(*other).partial_cmp(&change(*one)).unwrap_or(Ordering::Equal).then(one.cmp(other))
    });
    let Some(first) = places.first().copied() else { return Observation::default() };
    let columns = ["rank", "iterations", "steady", "levels", "jump_at", "before_jump_ns", "after_jump_ns"];
    case.observe(change(first).unwrap_or_default())
        .integers(&rows, first, &["rank", "jump_at", "levels"])
        .numbers(&rows, first, &["before_jump_ns", "after_jump_ns"])
        .value("unit", rows.text(first, "unit").unwrap_or("iteration"))
        .value("ranks", places.len())
        .value("all", places.len() > 1 && places.len() == rows.places().len())
        .evidence(case.evidence(&rows, &places, &columns))
}

/// Reports slow first iterations.
pub fn slow_first_iterations(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(iterations());
    let excess = |row: usize| {
        let warm_up = rows.number(row, "warmup").filter(|warm_up| *warm_up > 0.0)?;
        Some((rows.number(row, "warmup_ns")? - warm_up * rows.number(row, "median_ns")?) as i64)
    };
    let mut places = rows.matching(|_, row| excess(row).is_some_and(|excess| excess > 0));
    places.sort_by_key(|row| (std::cmp::Reverse(excess(*row)), *row));
    let Some(first) = places.first().copied() else { return Observation::default() };
    let total_ns = places.iter().filter_map(|row| excess(*row)).fold(0, i64::saturating_add);
    let columns = ["rank", "iterations", "warmup", "warmup_ns", "steady", "median_ns"];
    case.observe(case.pct_of_spans(total_ns))
        .integers(&rows, first, &["warmup", "iterations", "rank"])
        .value("unit", rows.text(first, "unit").unwrap_or("iteration"))
        .value("excess_ns", excess(first))
        .evidence(case.evidence(&rows, &places, &columns))
}

/// Parts of the drift of the GPU time of a range, with the words for the largest one.
const DRIFT_PARTS: [(&str, &str); 4] = [
    ("slower_pct", "the same kernels and copies take longer"),
    ("clock_pct", "the clock falls"),
    ("waiting_pct", "its GPU waits longer between its kernels"),
    ("more_work_pct", "it launches more or larger work"),
];

/// Reports a repeating range that takes longer and longer: its work on the GPU, otherwise its host time.
pub(crate) fn range_drift(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(range_pace());
    let times = case.rows(time_question());
    let longest_ns = times.places().filter_map(|row| times.integer(row, "span_ns")).max().unwrap_or_default();
    let reaches = |row: usize, column: &str, threshold: &str| {
        rows.number(row, column).is_some_and(|value| value >= case.threshold(threshold))
    };
    let total_ns = |row: usize, median: &str, iterations: &str| {
        Some((rows.number(row, median)? * rows.number(row, iterations)?) as i64)
    };
    // Rows whose time rises surely and by a relevant amount, the one that rises most first.
    let drifting = |median: &str, iterations: &str, drift: &str, errors: &str| {
        let places = rows.matching(|rows, row| {
            let total_ns = total_ns(row, median, iterations).unwrap_or_default();
            reaches(row, iterations, "min_steps")
                && reaches(row, errors, "min_errors")
                && RuleContext::pct(total_ns, longest_ns) >= case.threshold("min_span_pct")
                && case.priority(rows.number(row, drift).unwrap_or_default(), "pct").is_some()
        });
        rows.sorted_down(places, drift)
    };
    // More work is no loss.
    let lost_pct = |row: usize| {
        let of = |column: &str| rows.number(row, column).unwrap_or_default();
        (of("gpu_drift_pct") - of("more_work_pct").max(0.0)).max(0.0)
    };
    let mut on_gpu = drifting("gpu_span_ns", "gpu_iterations", "gpu_drift_pct", "gpu_drift_errors");
    on_gpu.sort_by(|one, other| lost_pct(*other).total_cmp(&lost_pct(*one)));
    let is_on_gpu = !on_gpu.is_empty();
    let (places, drift) = match is_on_gpu {
        true => (on_gpu, "gpu_drift_pct"),
        false => (drifting("median_ns", "iterations", "drift_pct", "drift_errors"), "drift_pct"),
    };
    let Some(first) = places.first().copied() else { return Observation::default() };
    let pct = rows.number(first, drift).unwrap_or_default();
    let part = |column: &str| rows.number(first, column).unwrap_or_default();
    let largest = DRIFT_PARTS.iter().max_by(|one, other| part(one.0).total_cmp(&part(other.0)));
    let lost_pct = if is_on_gpu { lost_pct(first) } else { 0.0 };
    // A steady rise costs half of what the last iteration takes longer.
    let lost_ns = total_ns(first, "gpu_span_ns", "gpu_iterations").unwrap_or_default() as f64 * lost_pct / 200.0;
    let is_gpu_steady = rows.number(first, "gpu_drift_pct").is_some_and(|drift| case.priority(drift, "pct").is_none());
    let iterations = if is_on_gpu { "gpu_iterations" } else { "iterations" };
    let columns: &[&str] = match is_on_gpu {
        true => &[
            "rank",
            "path",
            "gpu_iterations",
            "gpu_span_ns",
            "gpu_drift_pct",
            "slower_pct",
            "clock_pct",
            "waiting_pct",
            "more_work_pct",
        ],
        false => &["rank", "path", "iterations", "first_ns", "median_ns", "trend_ns", "drift_pct", "gpu_ns"],
    };
    let observation = match is_on_gpu {
        true => Observation::new(case.priority(lost_pct, "pct").unwrap_or(Priority::Info)).value("pct", pct),
        false => case.observe(pct),
    };
    let observation = if lost_ns > 0.0 { observation.saving(lost_ns as i64) } else { observation };
    observation
        .value("path", rows.text(first, "path").unwrap_or("a range"))
        .value("on_gpu", is_on_gpu)
        .value("reason", largest.map(|(_, words)| *words).filter(|_| is_on_gpu))
        .value("is_gpu_steady", is_gpu_steady)
        .value("iterations", rows.integer(first, iterations))
        .integers(&rows, first, &["rank"])
        .numbers(&rows, first, &["slower_pct", "clock_pct", "waiting_pct", "more_work_pct"])
        .value("paths", places.len())
        .evidence(case.evidence(&rows, &places, columns))
}

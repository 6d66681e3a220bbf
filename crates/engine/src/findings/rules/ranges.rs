//! ROCTx ranges and iterations.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::per_gpu::per_gpu;
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
        let usual = rows.number(row, "median_ns")? * steady;
        (steady >= case.threshold("min_steps"))
            .then(|| (rows.number(row, "steady_ns").unwrap_or_default() - usual) as i64)
    };
    // A gap that is not idle time is not a slow iteration either.
    let broken: BTreeSet<i64> = case.spans.broken_gpus().map(|(rank, _)| rank).collect();
    let is_whole = |row: usize| rows.integer(row, "rank").is_some_and(|rank| !broken.contains(&rank));
    let mut places = rows.matching(|_, row| is_whole(row) && excess(row).is_some_and(|excess| excess > 0));
    places.sort_by_key(|row| (std::cmp::Reverse(excess(*row)), *row));
    let Some(first) = places.first().copied() else { return Observation::default() };
    let longer_ns = excess(first).unwrap_or_default();
    let pct = RuleContext::pct(longer_ns, rows.integer(first, "steady_ns").unwrap_or_default());
    let columns = ["rank", "iterations", "steady", "steady_ns", "median_ns", "mean_ns", "min_ns", "max_ns"];
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
    let places = rows.matching(|_, row| excess(row).is_some_and(|excess| excess > 0));
    let slow = per_gpu(case, &rows, places, |row| excess(row).unwrap_or_default());
    let Some(first) = slow.places.first().copied() else { return Observation::default() };
    let columns = ["rank", "iterations", "warmup", "warmup_ns", "steady", "median_ns"];
    case.observe(slow.pct)
        .integers(&rows, first, &["warmup", "iterations", "rank"])
        .value("unit", rows.text(first, "unit").unwrap_or("iteration"))
        .value("excess_ns", excess(first))
        .evidence(case.evidence(&rows, &slow.places, &columns))
}

/// Reports a repeating range that gets slower.
pub(crate) fn range_drift(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(range_pace());
    let reaches = |row: usize, column: &str, threshold: &str| {
        rows.number(row, column).is_some_and(|value| value >= case.threshold(threshold))
    };
    let times = case.rows(time_question());
    let longest_ns = times.places().filter_map(|row| times.integer(row, "span_ns")).max().unwrap_or_default();
    let places = rows.matching(|rows, row| {
        let total_ns = rows.integer(row, "total_ns").unwrap_or_default();
        reaches(row, "iterations", "min_steps")
            && RuleContext::pct(total_ns, longest_ns) >= case.threshold("min_span_pct")
    });
    let places = rows.sorted_down(places, "drift_pct");
    let Some(first) = places.first().copied() else { return Observation::default() };
    let pct = rows.number(first, "drift_pct").unwrap_or_default();
    let shown: Vec<usize> = places
        .into_iter()
        .filter(|row| case.priority(rows.number(*row, "drift_pct").unwrap_or_default(), "pct").is_some())
        .collect();
    let columns = ["rank", "path", "iterations", "first_ns", "median_ns", "trend_ns", "drift_pct", "gpu_ns"];
    case.observe(pct)
        .value("path", rows.text(first, "path").unwrap_or("a range"))
        .integers(&rows, first, &["iterations"])
        .value("paths", shown.len())
        .evidence(case.evidence(&rows, &shown, &columns))
}

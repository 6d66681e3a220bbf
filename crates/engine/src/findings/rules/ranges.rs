//! ROCTx ranges and iterations.

use std::collections::BTreeSet;

use super::per_gpu::per_gpu;
use super::time::iterations;
use crate::findings::query_request::QueryRequest;
use crate::findings::rule_context::{Observation, RuleContext};
use crate::findings::spans::time_question;

fn coverage() -> QueryRequest {
    QueryRequest::new("range_coverage").by(&[])
}

fn pace() -> QueryRequest {
    QueryRequest::new("range_pace")
}

/// Queries of the rule about work outside of ranges.
pub(crate) fn coverage_questions() -> Vec<QueryRequest> {
    vec![coverage()]
}

/// Queries of the rules about iterations.
pub(crate) fn iteration_questions() -> Vec<QueryRequest> {
    vec![time_question(), iterations(), pace()]
}

/// Much of the GPU work lies outside of all ranges.
pub(crate) fn work_outside_ranges(case: &RuleContext<'_>) -> Vec<Observation> {
    let question = coverage();
    let rows = case.rows(&question);
    let of = |launch: &str| rows.places().find(|row| rows.text(*row, "launch") == Some(launch));
    // If there are no ranges at all, the user did not request them.
    let (Some(_), Some(outside)) = (of("range"), of("outside")) else { return Vec::new() };
    let pct = rows.number(outside, "pct").unwrap_or_default();
    let Some(priority) = case.priority(pct, "pct") else { return Vec::new() };
    let places: Vec<usize> = rows.places().collect();
    vec![
        Observation::new(priority).value("pct", pct).value("gpu_ns", rows.integer(outside, "gpu_ns")).evidence(
            case.evidence(&question, &places, &["launch", "kernels", "kernel_ns", "copies", "copy_ns", "pct"]),
        ),
    ]
}

/// Some of the iterations take much longer than most.
pub fn uneven_iterations(case: &RuleContext<'_>) -> Vec<Observation> {
    let question = iterations();
    let rows = case.rows(&question);
    let excess = |row: usize| {
        let steady = rows.number(row, "steady")?;
        let usual = rows.number(row, "median_ns")? * steady;
        (steady >= case.threshold("min_steps"))
            .then(|| (rows.number(row, "steady_ns").unwrap_or_default() - usual) as i64)
    };
    // A gap that is not idle time is not a slow iteration either.
    let broken: BTreeSet<i64> = case.spans.broken_gpus().map(|(rank, _)| rank).collect();
    let is_whole = |row: usize| rows.integer(row, "rank").is_some_and(|rank| !broken.contains(&rank));
    let places = rows.matching(|_, row| is_whole(row) && excess(row).is_some_and(|excess| excess > 0));
    let places = {
        let mut places = places;
        places.sort_by_key(|row| (std::cmp::Reverse(excess(*row)), *row));
        places
    };
    let Some(first) = places.first().copied() else { return Vec::new() };
    let longer_ns = excess(first).unwrap_or_default();
    let pct = RuleContext::pct(longer_ns, rows.integer(first, "steady_ns").unwrap_or_default());
    let Some(priority) = case.priority(pct, "pct") else { return Vec::new() };
    let columns = ["rank", "iterations", "steady", "steady_ns", "median_ns", "mean_ns", "min_ns", "max_ns"];
    vec![
        Observation::new(priority)
            .value("pct", pct)
            .value("rank", rows.integer(first, "rank"))
            .value("steady", rows.integer(first, "steady"))
            .value("median_ns", rows.number(first, "median_ns"))
            .value("max_ns", rows.number(first, "max_ns"))
            .value("longer_ns", longer_ns)
            .evidence(case.evidence(&question, &places, &columns)),
    ]
}

/// The first iterations are slow.
pub fn slow_first_iterations(case: &RuleContext<'_>) -> Vec<Observation> {
    let question = iterations();
    let rows = case.rows(&question);
    let excess = |row: usize| {
        let warm_up = rows.number(row, "warmup").filter(|warm_up| *warm_up > 0.0)?;
        Some((rows.number(row, "warmup_ns")? - warm_up * rows.number(row, "median_ns")?) as i64)
    };
    let places = rows.matching(|_, row| excess(row).is_some_and(|excess| excess > 0));
    let slow = per_gpu(case, &question, places, |row| excess(row).unwrap_or_default());
    let Some(first) = slow.places.first().copied() else { return Vec::new() };
    let Some(priority) = case.priority(slow.pct, "pct") else { return Vec::new() };
    let columns = ["rank", "iterations", "warmup", "warmup_ns", "steady", "median_ns"];
    vec![
        Observation::new(priority)
            .value("pct", slow.pct)
            .value("warmup", rows.integer(first, "warmup"))
            .value("iterations", rows.integer(first, "iterations"))
            .value("rank", rows.integer(first, "rank"))
            .value("excess_ns", excess(first))
            .evidence(case.evidence(&question, &slow.places, &columns)),
    ]
}

/// A range that repeats takes longer and longer.
pub(crate) fn range_drift(case: &RuleContext<'_>) -> Vec<Observation> {
    let question = pace();
    let rows = case.rows(&question);
    let reaches = |row: usize, column: &str, threshold: &str| {
        rows.number(row, column).is_some_and(|value| value >= case.threshold(threshold))
    };
    let time = time_question();
    let times = case.rows(&time);
    let longest_ns = times.places().filter_map(|row| times.integer(row, "span_ns")).max().unwrap_or_default();
    let places = rows.matching(|rows, row| {
        let total_ns = rows.integer(row, "total_ns").unwrap_or_default();
        reaches(row, "iterations", "min_steps")
            && RuleContext::pct(total_ns, longest_ns) >= case.threshold("min_span_pct")
    });
    let places = rows.sorted_down(places, "drift_pct");
    let Some(first) = places.first().copied() else { return Vec::new() };
    let pct = rows.number(first, "drift_pct").unwrap_or_default();
    let Some(priority) = case.priority(pct, "pct") else { return Vec::new() };
    let shown: Vec<usize> = places
        .into_iter()
        .filter(|row| case.priority(rows.number(*row, "drift_pct").unwrap_or_default(), "pct").is_some())
        .collect();
    let columns = ["rank", "path", "iterations", "first_ns", "median_ns", "trend_ns", "drift_pct", "gpu_ns"];
    vec![
        Observation::new(priority)
            .value("pct", pct)
            .value("path", rows.text(first, "path").unwrap_or("a range"))
            .value("iterations", rows.integer(first, "iterations"))
            .value("paths", shown.len())
            .evidence(case.evidence(&question, &shown, &columns)),
    ]
}

//! Problems of the trace itself.

use crate::findings::priority::Priority;
use crate::findings::questions::{copies, gaps, health, kernels, time_question};
use crate::findings::rule_context::{Observation, RuleContext};

/// Checks that exclude rows from all numbers.
const LEAVES_OUT: [&str; 3] = ["far_outside_process", "negative_duration", "zero_timestamp"];

const COLUMNS: [&str; 5] = ["check_id", "table_name", "count", "first_key", "detail"];

/// Anomalies that make numbers wrong.
pub(crate) fn trace_errors(case: &RuleContext<'_>) -> Observation {
    of_severity(case, "error", Priority::High)
}

/// The check that finds durations that moved to other names.
const MIGRATING_DURATIONS: &str = "migrating_durations";

/// Whether durations of single kernels are those of others, so that nothing follows from how they vary.
pub(super) fn durations_migrate(case: &RuleContext<'_>) -> bool {
    let rows = case.answers.rows(health());
    !rows.matching(|rows, row| rows.text(row, "check_id") == Some(MIGRATING_DURATIONS)).is_empty()
}

/// Durations of kernels inside replays of graphs that moved to other names.
pub(crate) fn unreliable_durations(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(health());
    let places = rows.matching(|rows, row| rows.text(row, "check_id") == Some(MIGRATING_DURATIONS));
    let several = (!places.is_empty()).then_some(Priority::Medium);
    Observation::new(several)
        .value("kernels", rows.sum(places.iter().copied(), "count"))
        .evidence(case.evidence(&rows, &places, &COLUMNS))
}

/// Anomalies that may make numbers wrong.
pub(crate) fn trace_warnings(case: &RuleContext<'_>) -> Observation {
    of_severity(case, "warning", Priority::Info)
}

/// Kernels and copies with invalid timestamps, which are excluded from all numbers.
pub fn rows_left_out(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(health());
    let places = rows.matching(|rows, row| {
        rows.text(row, "check_id").is_some_and(|check| LEAVES_OUT.contains(&check))
            && rows.text(row, "table_name").is_some_and(|table| ["kernels", "memory_copies"].contains(&table))
    });
    let left_out = rows.sum(places.iter().copied(), "count");
    let (kernels, copies) = (case.rows(kernels()), case.rows(copies()));
    let kept = kernels.sum(kernels.places(), "calls").saturating_add(copies.sum(copies.places(), "copies"));
    let all = left_out.saturating_add(kept);
    let pct = RuleContext::pct(left_out, all);
    let places = rows.sorted_down(places, "count");
    let evidence = case.evidence(&rows, &places, &COLUMNS);
    case.observe(pct).value("left_out", left_out).value("all", all).evidence(evidence)
}

/// Ranks of the job without a trace among the inputs.
pub(crate) fn missing_ranks(case: &RuleContext<'_>) -> Observation {
    let Some(missing) = case.collected.missing_ranks else { return Observation::default() };
    let rows = case.rows(time_question());
    let places: Vec<usize> = rows.places().collect();
    let columns = ["rank", "gpu", "span_ns", "compute_ns", "comm_ns", "idle_ns"];
    Observation::new(Priority::Info)
        .value("present", missing.present)
        .value("size", missing.size)
        .value("is_least", missing.is_least)
        .evidence(case.evidence(&rows, &places, &columns))
}

/// Gaps so long that they are not idle time: figures and shares leave them out.
pub fn broken_span(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(gaps());
    let places: Vec<usize> = case.spans.breaks().iter().copied().collect();
    let Some(first) = places.first().copied() else { return Observation::default() };
    let total_ns = rows.sum(places.iter().copied(), "duration_ns");
    let gpus = case.spans.broken_gpus();
    let rest_ns = gpus.fold(0_i64, |sum, gpu| sum.saturating_add(case.spans.span_ns(gpu)));
    let columns = ["rank", "gpu", "start_ns", "duration_ns", "cause", "kernel_before", "kernel_after"];
    Observation::new(Priority::High)
        .value("gaps", places.len())
        .value("total_ns", total_ns)
        .value("rest_ns", rest_ns)
        .value("longest_ns", rows.integer(first, "duration_ns"))
        .integers(&rows, first, &["rank", "gpu"])
        .evidence(case.evidence(&rows, &places, &columns))
}

fn of_severity(case: &RuleContext<'_>, severity: &str, priority: Priority) -> Observation {
    let rows = case.rows(health());
    // Migrating durations are a finding of their own.
    let places = rows.matching(|rows, row| {
        rows.text(row, "severity") == Some(severity) && rows.text(row, "check_id") != Some(MIGRATING_DURATIONS)
    });
    if places.is_empty() {
        return Observation::default();
    }
    let places = rows.sorted_down(places, "count");
    let mut names: Vec<&str> = Vec::new();
    for name in places.iter().filter_map(|row| rows.text(*row, "check_id")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(3);
    Observation::new(priority)
        .value("checks", places.len())
        .value("rows", rows.sum(places.iter().copied(), "count"))
        .value("names", names.join(", "))
        .evidence(case.evidence(&rows, &places, &COLUMNS))
}

/// Reports where the time went if nothing was found.
pub(crate) fn nothing_stands_out(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(time_question());
    let places: Vec<usize> = rows.places().collect();
    let busy_pct = case.pct_of_spans(rows.sum(rows.places(), "busy_ns"));
    let columns = ["rank", "gpu", "span_ns", "compute_ns", "idle_ns", "busy_pct"];
    Observation::new(Priority::Info).value("busy_pct", busy_pct).evidence(case.evidence(&rows, &places, &columns))
}

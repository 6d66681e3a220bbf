//! Problems of the trace itself.

use super::kernels::kernels;
use crate::findings::priority::Priority;
use crate::findings::query_request::QueryRequest;
use crate::findings::rule_context::{Observation, RuleContext};
use crate::findings::spans::{gaps_question, idle, time_question};

fn health() -> QueryRequest {
    QueryRequest::new("trace_health")
}

fn copies() -> QueryRequest {
    QueryRequest::new("copy_summary")
}

/// Checks that leave rows out of every number.
const LEAVES_OUT: [&str; 3] = ["far_outside_process", "negative_duration", "zero_timestamp"];

/// Queries of these rules.
pub fn questions() -> Vec<QueryRequest> {
    vec![health(), time_question(), idle(), gaps_question(), kernels(), copies()]
}

/// Anomalies that make numbers wrong.
pub(crate) fn trace_errors(case: &RuleContext<'_>) -> Vec<Observation> {
    of_severity(case, "error", Priority::High)
}

/// Anomalies that may make numbers wrong.
pub(crate) fn trace_warnings(case: &RuleContext<'_>) -> Vec<Observation> {
    of_severity(case, "warning", Priority::Info)
}

/// Kernels and copies whose times cannot be true, so that they count nowhere.
pub fn rows_left_out(case: &RuleContext<'_>) -> Vec<Observation> {
    let question = health();
    let rows = case.rows(&question);
    let places = rows.matching(|rows, row| {
        rows.text(row, "check_id").is_some_and(|check| LEAVES_OUT.contains(&check))
            && rows.text(row, "table_name").is_some_and(|table| ["kernels", "memory_copies"].contains(&table))
    });
    let left_out = rows.sum(places.iter().copied(), "count");
    let (kernels, copies) = (kernels(), copies());
    let (kernels, copies) = (case.rows(&kernels), case.rows(&copies));
    let kept = kernels.sum(kernels.places(), "calls").saturating_add(copies.sum(copies.places(), "copies"));
    let all = left_out.saturating_add(kept);
    let pct = RuleContext::pct(left_out, all);
    let Some(priority) = case.priority(pct, "pct") else { return Vec::new() };
    let places = rows.sorted_down(places, "count");
    vec![
        Observation::new(priority)
            .value("left_out", left_out)
            .value("all", all)
            .value("pct", pct)
            .evidence(case.evidence(&question, &places, &["check_id", "table_name", "count", "first_key", "detail"])),
    ]
}

/// Gaps so long that they are not idle time: figures and shares leave them out.
pub fn broken_span(case: &RuleContext<'_>) -> Vec<Observation> {
    let question = gaps_question();
    let rows = case.rows(&question);
    let places: Vec<usize> = case.spans.breaks().iter().copied().collect();
    let Some(first) = places.first().copied() else { return Vec::new() };
    let total_ns = rows.sum(places.iter().copied(), "duration_ns");
    let gpus = case.spans.broken_gpus();
    let rest_ns = gpus.fold(0_i64, |sum, gpu| sum.saturating_add(case.spans.span_ns(gpu)));
    let columns = ["rank", "gpu", "start_ns", "duration_ns", "cause", "kernel_before", "kernel_after"];
    vec![
        Observation::new(Priority::High)
            .value("gaps", places.len())
            .value("total_ns", total_ns)
            .value("rest_ns", rest_ns)
            .value("longest_ns", rows.integer(first, "duration_ns"))
            .value("rank", rows.integer(first, "rank"))
            .value("gpu", rows.integer(first, "gpu"))
            .evidence(case.evidence(&question, &places, &columns)),
    ]
}

fn of_severity(case: &RuleContext<'_>, severity: &str, priority: Priority) -> Vec<Observation> {
    let question = health();
    let rows = case.rows(&question);
    let places = rows.matching(|rows, row| rows.text(row, "severity") == Some(severity));
    if places.is_empty() {
        return Vec::new();
    }
    let places = rows.sorted_down(places, "count");
    let mut names: Vec<&str> = Vec::new();
    for name in places.iter().filter_map(|row| rows.text(*row, "check_id")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(3);
    vec![
        Observation::new(priority)
            .value("checks", places.len())
            .value("rows", rows.sum(places.iter().copied(), "count"))
            .value("names", names.join(", "))
            .evidence(case.evidence(&question, &places, &["check_id", "table_name", "count", "first_key", "detail"])),
    ]
}

/// Nothing was found: where the time went, for the record.
pub(crate) fn nothing_stands_out(case: &RuleContext<'_>) -> Observation {
    let question = time_question();
    let rows = case.rows(&question);
    let places: Vec<usize> = rows.places().collect();
    let busy_ns = rows.sum(rows.places(), "busy_ns");
    Observation::new(Priority::Info).value("busy_pct", case.pct_of_spans(busy_ns)).evidence(case.evidence(
        &question,
        &places,
        &["rank", "gpu", "span_ns", "compute_ns", "idle_ns", "busy_pct"],
    ))
}

//! What is wrong with the trace itself.

use super::time::time_question;
use crate::findings::case::{Case, Observation};
use crate::findings::priority::Priority;
use crate::findings::question::Question;

fn health() -> Question {
    Question::of("trace_health")
}

/// What these rules ask.
pub fn questions() -> Vec<Question> {
    vec![health(), time_question()]
}

/// What makes numbers wrong.
pub fn trace_errors(case: &Case<'_>) -> Vec<Observation> {
    of_severity(case, "error", Priority::High)
}

/// What may make numbers wrong.
pub fn trace_warnings(case: &Case<'_>) -> Vec<Observation> {
    of_severity(case, "warning", Priority::Info)
}

fn of_severity(case: &Case<'_>, severity: &str, priority: Priority) -> Vec<Observation> {
    let question = health();
    let rows = case.rows(&question);
    let places = rows.matching(|rows, row| rows.text(row, "severity") == Some(severity));
    if places.is_empty() {
        return Vec::new();
    }
    let places = rows.sorted_down(places, "count");
    let names: Vec<&str> = places.iter().filter_map(|row| rows.text(*row, "check_id")).take(3).collect();
    vec![
        Observation::of(priority)
            .value("checks", places.len())
            .value("rows", rows.sum(places.iter().copied(), "count"))
            .value("names", names.join(", "))
            .evidence(case.evidence(&question, &places, &["check_id", "table_name", "count", "first_key", "detail"])),
    ]
}

/// Nothing was found: where the time went, for the record.
pub fn nothing_stands_out(case: &Case<'_>) -> Observation {
    let question = time_question();
    let rows = case.rows(&question);
    let places: Vec<usize> = rows.places().collect();
    let busy_ns = rows.sum(rows.places(), "busy_ns");
    Observation::of(Priority::Info).value("busy_pct", case.pct_of_spans(busy_ns)).evidence(case.evidence(
        &question,
        &places,
        &["rank", "gpu", "span_ns", "compute_ns", "idle_ns", "busy_pct"],
    ))
}

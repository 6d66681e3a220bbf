//! Communication that is not hidden, and what it waits for.

use super::kernels::kernels;
use super::ranks::stragglers_question;
use super::time::{exposed, time_question};
use crate::findings::case::{Case, Observation};
use crate::findings::question::Question;

fn collectives() -> Question {
    Question::of("collective_summary")
}

/// What these rules ask.
pub fn questions() -> Vec<Question> {
    vec![time_question(), collectives(), stragglers_question(), kernels()]
}

const COLUMNS: [&str; 7] = ["kernel_name", "calls", "matched", "total_ns", "cost_ns", "wait_ns", "wait_pct"];

/// Communication while nothing computes, and how much of all communication is waiting.
pub fn exposed_communication(case: &Case<'_>) -> Vec<Observation> {
    let Some(observation) = exposed(case, "exposed_comm_ns", "comm_ns") else { return Vec::new() };
    let question = collectives();
    let rows = case.rows(&question);
    let places = rows.sorted_down(rows.places().collect(), "total_ns");
    let matched = rows.sum(places.iter().copied(), "matched");
    let wait_ns = rows.sum(places.iter().copied(), "wait_ns");
    let cost_ns = rows.sum(places.iter().copied(), "cost_ns");
    let evidence = || (matched > 0).then(|| case.evidence(&question, &places, &COLUMNS)).flatten();
    let observation = observation
        .value("matched", matched)
        .value("wait_ns", wait_ns)
        .value("wait_pct", Case::pct(wait_ns, wait_ns.saturating_add(cost_ns)))
        .evidence(evidence());
    let names = kernels();
    let names = case.rows(&names);
    let of_rccl = |row: &usize| {
        names.text(*row, "kernel_name").is_some_and(|name| name.contains("nccl") || name.contains("rccl"))
    };
    // Only RCCL records the calls of its kernels.
    vec![if names.places().any(|row| of_rccl(&row)) { observation } else { observation.without("rccl_trace") }]
}

/// GPUs that wait in collectives for one another, now for this one and now for that one.
pub fn collective_wait(case: &Case<'_>) -> Vec<Observation> {
    let stragglers = stragglers_question();
    let late = case.rows(&stragglers);
    // One GPU that is always late is said by the rule about it.
    if !late.is_empty() {
        return Vec::new();
    }
    let question = collectives();
    let rows = case.rows(&question);
    let places = rows.matching(|rows, row| rows.integer(row, "matched").is_some_and(|matched| matched > 0));
    let wait_ns = rows.sum(places.iter().copied(), "wait_ns");
    let cost_ns = rows.sum(places.iter().copied(), "cost_ns");
    let pct = case.pct_of_spans(wait_ns);
    let Some(priority) = case.priority(pct, "pct") else { return Vec::new() };
    let places = rows.sorted_down(places, "wait_ns");
    let columns = ["kernel_name", "matched", "cost_ns", "wait_ns", "wait_pct", "max_wait_ns", "median_skew_ns"];
    vec![
        Observation::of(priority)
            .value("pct", pct)
            .value("wait_ns", wait_ns)
            .value("cost_ns", cost_ns)
            .value("wait_pct", Case::pct(wait_ns, wait_ns.saturating_add(cost_ns)))
            .value("calls", rows.sum(places.iter().copied(), "matched"))
            .saving(wait_ns)
            .evidence(case.evidence(&question, &places, &columns)),
    ]
}

/// Many collectives of little data, whose cost is latency.
pub fn small_collectives(case: &Case<'_>) -> Vec<Observation> {
    let question = collectives();
    let rows = case.rows(&question);
    let least = case.threshold("least_calls");
    let most_bytes = case.threshold("small_bytes");
    let places = rows.matching(|rows, row| {
        let bytes = rows.number(row, "mean_message_bytes");
        bytes.is_some_and(|bytes| bytes < most_bytes) && rows.number(row, "sized").is_some_and(|calls| calls >= least)
    });
    let cost_ns = rows.sum(places.iter().copied(), "cost_ns");
    let pct = case.pct_of_spans(cost_ns);
    let Some(priority) = case.priority(pct, "pct") else { return Vec::new() };
    let places = rows.sorted_down(places, "cost_ns");
    let bytes = places.first().and_then(|row| rows.number(*row, "mean_message_bytes"));
    let columns = ["kernel_name", "sized", "mean_message_bytes", "cost_ns", "algorithm_gb_per_s", "bus_gb_per_s"];
    vec![
        Observation::of(priority)
            .value("pct", pct)
            .value("cost_ns", cost_ns)
            .value("calls", rows.sum(places.iter().copied(), "sized"))
            .value("mean_bytes", bytes)
            .saving(cost_ns)
            .evidence(case.evidence(&question, &places, &columns)),
    ]
}

//! Where the time of the GPUs went.

use crate::findings::case::{Case, Observation};
use crate::findings::question::Question;

/// How each GPU of each rank spent its span: all spans come from here.
pub fn time_question() -> Question {
    Question::of("time_breakdown").by(&["rank", "gpu"])
}

/// The time of each GPU.
pub fn time_questions() -> Vec<Question> {
    vec![time_question()]
}

fn idle() -> Question {
    Question::of("idle_by_cause").by(&["rank", "gpu"])
}

/// The time of each GPU, and why it was idle.
pub fn idle_questions() -> Vec<Question> {
    vec![time_question(), idle()]
}

/// GPUs that wait for the host to launch what comes next.
pub fn host_bound_idle(case: &Case<'_>) -> Vec<Observation> {
    idle_of(case, &["host_bound", "launch_delay"])
}

fn idle_of(case: &Case<'_>, causes: &[&str]) -> Vec<Observation> {
    let question = idle();
    let rows = case.rows(&question);
    let places = rows.matching(|rows, row| rows.text(row, "cause").is_some_and(|cause| causes.contains(&cause)));
    let idle_ns = rows.sum(places.iter().copied(), "idle_ns");
    let pct = case.pct_of_spans(idle_ns);
    let Some(priority) = case.priority(pct, "pct") else { return Vec::new() };
    let places = rows.sorted_down(places, "idle_ns");
    let columns = ["rank", "gpu", "cause", "stretches", "idle_ns", "mean_ns", "max_ns", "idle_pct"];
    vec![
        Observation::of(priority)
            .value("pct", pct)
            .value("idle_ns", idle_ns)
            .saving(idle_ns)
            .evidence(case.evidence(&question, &places, &columns)),
    ]
}

/// Copies while nothing computes or communicates.
pub fn exposed_copy(case: &Case<'_>) -> Vec<Observation> {
    exposed(case, "exposed_copy_ns", "copy_ns")
}

/// Communication while nothing computes.
pub fn exposed_communication(case: &Case<'_>) -> Vec<Observation> {
    exposed(case, "exposed_comm_ns", "comm_ns")
}

fn exposed(case: &Case<'_>, exposed: &str, all: &str) -> Vec<Observation> {
    let question = time_question();
    let rows = case.rows(&question);
    let exposed_ns = rows.sum(rows.places(), exposed);
    let all_ns = rows.sum(rows.places(), all);
    let pct = case.pct_of_spans(exposed_ns);
    let Some(priority) = case.priority(pct, "pct") else { return Vec::new() };
    let places = rows.sorted_down(rows.places().collect(), exposed);
    vec![
        Observation::of(priority)
            .value("pct", pct)
            .value("exposed_ns", exposed_ns)
            .value("all_ns", all_ns)
            .saving(exposed_ns)
            .evidence(case.evidence(
                &question,
                &places,
                &["rank", "gpu", "span_ns", all, exposed, "busy_pct", "idle_pct"],
            )),
    ]
}

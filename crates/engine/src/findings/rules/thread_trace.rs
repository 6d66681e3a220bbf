//! Instructions on which wavefronts wait, of thread traces and of samples of the program counter.

use std::collections::BTreeMap;

use super::kernels::MAX_KERNELS;
use crate::findings::query_request::QueryRequest;
use crate::findings::rule_context::{Observation, Rows, RuleContext};

fn classes() -> QueryRequest {
    QueryRequest::new("att_by_class")
}

fn hotspots() -> QueryRequest {
    QueryRequest::new("att_hotspots")
}

fn waits() -> QueryRequest {
    QueryRequest::new("att_waits")
}

fn samples() -> QueryRequest {
    QueryRequest::new("pc_hotspots").by(&["kernel_name", "stall_reason"])
}

/// Queries of the rule about thread traces.
pub(crate) fn trace_questions() -> Vec<QueryRequest> {
    vec![classes(), hotspots(), waits()]
}

/// Queries of the rule about samples.
pub(crate) fn sample_questions() -> Vec<QueryRequest> {
    vec![samples()]
}

/// Class of operation that a wait is for, or where that is not known the one whose counter it waits for.
fn waited_class<'a>(rows: &Rows<'a>, row: usize) -> Option<&'a str> {
    let by_counter = || match rows.text(row, "counter")? {
        "vmcnt" | "vscnt" | "loadcnt" | "storecnt" | "samplecnt" | "bvhcnt" => Some("VMEM"),
        "dscnt" => Some("LDS"),
        "kmcnt" => Some("SMEM"),
        _ => None,
    };
    rows.text(row, "class").or_else(by_counter)
}

/// Kernels whose wavefronts wait for most of their latency, with what they wait for.
pub fn instruction_stalls(case: &RuleContext<'_>) -> Vec<Observation> {
    let question = classes();
    let rows = case.rows(&question);
    let mut kernels: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for row in rows.places() {
        kernels.entry(rows.text(row, "kernel_name")).or_default().push(row);
    }
    let sum = |places: &[usize], column: &str| rows.sum(places.iter().copied(), column);
    let mut kernels: Vec<(Option<&str>, Vec<usize>)> = kernels.into_iter().collect();
    kernels.sort_by_key(|(name, places)| (std::cmp::Reverse(sum(places, "stall_cycles")), *name));
    let mut observations = Vec::new();
    for (name, places) in kernels.into_iter().take(MAX_KERNELS) {
        let (stall, latency) = (sum(&places, "stall_cycles"), sum(&places, "latency_cycles"));
        let pct = RuleContext::pct(stall, latency);
        let Some(priority) = case.priority(pct, "pct") else { continue };
        let places = rows.sorted_down(places, "stall_cycles");
        let Some(first) = places.first().copied() else { continue };
        let hot_question = hotspots();
        let hot = case.rows(&hot_question);
        let own = hot.matching(|hot, row| hot.text(row, "kernel_name") == name);
        let line = own
            .iter()
            .find_map(|row| Some(format!("{}:{}", hot.text(*row, "source_file")?, hot.integer(*row, "source_line")?)));
        let wait_question = waits();
        let waited = case.rows(&wait_question);
        let own_waits = waited.matching(|waited, row| waited.text(row, "kernel_name") == name);
        let all_waits = waited.sum(own_waits.iter().copied(), "stall_cycles");
        let of_class = |class: &str| -> Vec<usize> {
            own_waits.iter().copied().filter(|row| waited_class(&waited, *row) == Some(class)).collect()
        };
        let most =
            ["VMEM", "LDS", "SMEM"].into_iter().map(|class| (class, waited.sum(of_class(class), "stall_cycles")));
        let most = most.fold(
            None,
            |most: Option<(&str, i64)>, next| {
                if next.1 > most.map_or(0, |(_, cycles)| cycles) { Some(next) } else { most }
            },
        );
        let producers = most.map(|(class, _)| of_class(class)).unwrap_or_default();
        let producers = producers.into_iter().filter(|row| waited.text(*row, "instruction").is_some()).collect();
        let producer = waited.sorted_down(producers, "stall_cycles").first().copied();
        let second = places.get(1).copied();
        let class = rows.text(first, "class").unwrap_or("other");
        let wait_evidence = || {
            case.evidence(
                &wait_question,
                &own_waits,
                &["instruction", "class", "reason", "source_line", "waits", "stall_cycles", "wait_pct"],
            )
        };
        let shown = if class == "wait" && !own_waits.is_empty() { wait_evidence() } else { None };
        let mut observation = Observation::new(priority)
            .value("pct", pct)
            .value("class", class)
            .value("class_pct", rows.number(first, "stall_pct"))
            .value("line", line)
            .value("instruction", own.first().and_then(|row| hot.text(*row, "instruction")))
            .value("producer", producer.and_then(|row| waited.text(row, "instruction")))
            .value("producer_class", most.map(|(class, _)| class))
            .value("producer_pct", most.map(|(_, cycles)| RuleContext::pct(cycles, all_waits)))
            .value("second", second.and_then(|row| rows.text(row, "class")))
            .value("second_pct", second.and_then(|row| rows.number(row, "stall_pct")))
            .value("name", name.unwrap_or("the traced kernel"))
            .evidence(case.evidence(
                &question,
                &places,
                &["class", "hitcount", "latency_cycles", "stall_cycles", "stall_pct", "stalled_pct"],
            ))
            .evidence(case.evidence(
                &hot_question,
                &own,
                &["instruction", "source_file", "source_line", "hitcount", "stall_cycles", "stall_pct"],
            ))
            .evidence(shown);
        if let Some(name) = name {
            observation = observation.about_kernel(name);
        }
        observations.push(observation);
    }
    observations
}

/// Kernels whose sampled wavefronts mostly did not issue, with the reason.
pub(crate) fn sampled_stalls(case: &RuleContext<'_>) -> Vec<Observation> {
    let question = samples();
    let rows = case.rows(&question);
    let mut kernels: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for row in rows.places() {
        kernels.entry(rows.text(row, "kernel_name")).or_default().push(row);
    }
    let sum = |places: &[usize], column: &str| rows.sum(places.iter().copied(), column);
    let mut kernels: Vec<(Option<&str>, Vec<usize>)> = kernels.into_iter().collect();
    kernels.sort_by_key(|(name, places)| (std::cmp::Reverse(sum(places, "samples")), *name));
    let mut observations = Vec::new();
    for (name, places) in kernels.into_iter().take(MAX_KERNELS) {
        let (stalled, issued) = (sum(&places, "stalled"), sum(&places, "issued"));
        let told = stalled.saturating_add(issued);
        if (told as f64) < case.threshold("min_samples") {
            continue;
        }
        let pct = RuleContext::pct(stalled, told);
        let Some(priority) = case.priority(pct, "pct") else { continue };
        let places = rows.sorted_down(places, "stalled");
        let Some(first) = places.first().copied() else { continue };
        let mut observation = Observation::new(priority)
            .value("pct", pct)
            .value("samples", told)
            .value("reason", rows.text(first, "stall_reason").unwrap_or("not told"))
            .value("reason_pct", RuleContext::pct(rows.integer(first, "stalled").unwrap_or_default(), stalled))
            .value("name", name.unwrap_or("the sampled code"))
            .evidence(case.evidence(&question, &places, &["kernel_name", "stall_reason", "samples", "pct", "stalled"]));
        if let Some(name) = name {
            observation = observation.about_kernel(name);
        }
        observations.push(observation);
    }
    observations
}

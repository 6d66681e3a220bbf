//! Instructions that wavefronts wait for, from thread traces and PC samples.

use std::collections::BTreeMap;

use super::kernels::MAX_KERNELS;
use crate::findings::questions::{instruction_classes, instruction_hotspots, instruction_waits, pc_samples};
use crate::findings::rule_context::{Observation, Rows, RuleContext};

const CLASS_COLUMNS: [&str; 6] = ["class", "hitcount", "latency_cycles", "stall_cycles", "stall_pct", "stalled_pct"];
const HOT_COLUMNS: [&str; 6] = ["instruction", "source_file", "source_line", "hitcount", "stall_cycles", "stall_pct"];
const WAIT_COLUMNS: [&str; 7] = ["instruction", "class", "reason", "source_line", "waits", "stall_cycles", "wait_pct"];

/// Class of operation that a wait is for. If it is unknown, the counter that the wait reads determines it.
fn waited_class<'a>(rows: &Rows<'a>, row: usize) -> Option<&'a str> {
    let by_counter = || match rows.text(row, "counter")? {
        "vmcnt" | "vscnt" | "loadcnt" | "storecnt" | "samplecnt" | "bvhcnt" => Some("VMEM"),
        "dscnt" => Some("LDS"),
        "kmcnt" => Some("SMEM"),
        _ => None,
    };
    rows.text(row, "class").or_else(by_counter)
}

/// The row places of the kernels with the largest sums of a column, the largest first.
fn by_kernel<'a>(rows: &Rows<'a>, column: &str) -> Vec<(Option<&'a str>, Vec<usize>)> {
    let mut kernels: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for row in rows.places() {
        kernels.entry(rows.text(row, "kernel_name")).or_default().push(row);
    }
    let mut kernels: Vec<_> = kernels.into_iter().collect();
    kernels.sort_by_key(|(name, places)| (std::cmp::Reverse(rows.sum(places.iter().copied(), column)), *name));
    kernels.truncate(MAX_KERNELS);
    kernels
}

/// Kernels whose wavefronts stall for most of their latency, with the cause.
pub fn instruction_stalls(case: &RuleContext<'_>) -> Vec<Observation> {
    let rows = case.rows(instruction_classes());
    let sum = |places: &[usize], column: &str| rows.sum(places.iter().copied(), column);
    let mut observations = Vec::new();
    for (name, places) in by_kernel(&rows, "stall_cycles") {
        let (stall, latency) = (sum(&places, "stall_cycles"), sum(&places, "latency_cycles"));
        let pct = RuleContext::pct(stall, latency);
        let places = rows.sorted_down(places, "stall_cycles");
        let Some(first) = places.first().copied() else { continue };
        let hot = case.rows(instruction_hotspots());
        let own = hot.matching(|hot, row| hot.text(row, "kernel_name") == name);
        let line = own
            .iter()
            .find_map(|row| Some(format!("{}:{}", hot.text(*row, "source_file")?, hot.integer(*row, "source_line")?)));
        let waited = case.rows(instruction_waits());
        let own_waits = waited.matching(|waited, row| waited.text(row, "kernel_name") == name);
        let all_waits = waited.sum(own_waits.iter().copied(), "stall_cycles");
        let of_class = |class: &str| -> Vec<usize> {
            own_waits.iter().copied().filter(|row| waited_class(&waited, *row) == Some(class)).collect()
        };
        let most =
            ["VMEM", "LDS", "SMEM"].into_iter().map(|class| (class, waited.sum(of_class(class), "stall_cycles")));
        let most =
            most.filter(|(_, cycles)| *cycles > 0).reduce(|most, next| if next.1 > most.1 { next } else { most });
        let producers = most.map(|(class, _)| of_class(class)).unwrap_or_default();
        let producers = producers.into_iter().filter(|row| waited.text(*row, "instruction").is_some()).collect();
        let producer = waited.sorted_down(producers, "stall_cycles").first().copied();
        let second = places.get(1).copied();
        let class = rows.text(first, "class").unwrap_or("other");
        let shown = case.evidence(&waited, &own_waits, &WAIT_COLUMNS);
        let mut observation = case
            .observe(pct)
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
            .evidence(case.evidence(&rows, &places, &CLASS_COLUMNS))
            .evidence(case.evidence(&hot, &own, &HOT_COLUMNS))
            .evidence(shown.filter(|_| class == "wait" && !own_waits.is_empty()));
        if let Some(name) = name {
            observation = observation.about_kernel(name);
        }
        observations.push(observation);
    }
    observations
}

/// Kernels whose sampled wavefronts mostly did not issue, with the reason.
pub(crate) fn sampled_stalls(case: &RuleContext<'_>) -> Vec<Observation> {
    let rows = case.rows(pc_samples());
    let sum = |places: &[usize], column: &str| rows.sum(places.iter().copied(), column);
    let mut observations = Vec::new();
    for (name, places) in by_kernel(&rows, "samples") {
        let (stalled, issued) = (sum(&places, "stalled"), sum(&places, "issued"));
        let told = stalled.saturating_add(issued);
        if (told as f64) < case.threshold("min_samples") {
            continue;
        }
        let places = rows.sorted_down(places, "stalled");
        let Some(first) = places.first().copied() else { continue };
        let mut observation = case
            .observe(RuleContext::pct(stalled, told))
            .value("samples", told)
            .value("reason", rows.text(first, "stall_reason").unwrap_or("not told"))
            .value("reason_pct", RuleContext::pct(rows.integer(first, "stalled").unwrap_or_default(), stalled))
            .value("name", name.unwrap_or("the sampled code"))
            .evidence(case.evidence(&rows, &places, &["kernel_name", "stall_reason", "samples", "pct", "stalled"]));
        if let Some(name) = name {
            observation = observation.about_kernel(name);
        }
        observations.push(observation);
    }
    observations
}

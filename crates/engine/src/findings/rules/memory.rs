//! Copies and allocations.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::priority::Priority;
use crate::findings::questions::{
    self as ask, copy_calls, copy_calls_of_gpus, fills, high_water, idle_calls, leaks, links, time_question,
};
use crate::findings::rule_context::{Observation, Rows, RuleContext};
use crate::findings::spans::{GpuKey, gpu_of};

/// Copies of one direction over all GPUs.
#[derive(Default)]
struct Direction {
    places: Vec<usize>,
    bytes: f64,
    busy_ns: f64,
    /// Bytes that the links could have copied in this time at their peaks.
    at_peak: f64,
    small_ns: f64,
    all_known: bool,
}

fn directions(case: &RuleContext<'_>) -> BTreeMap<String, Direction> {
    let rows = case.rows(links());
    let mut directions: BTreeMap<String, Direction> = BTreeMap::new();
    for row in rows.places() {
        let Some(name) = rows.text(row, "direction") else { continue };
        let direction =
            directions.entry(name.to_owned()).or_insert_with(|| Direction { all_known: true, ..Direction::default() });
        let busy_ns = rows.number(row, "busy_ns").unwrap_or_default();
        direction.places.push(row);
        direction.bytes += rows.number(row, "total_bytes").unwrap_or_default();
        direction.busy_ns += busy_ns;
        match rows.number(row, "peak_gb_per_s") {
            Some(peak) => direction.at_peak += peak * busy_ns,
            None => direction.all_known = false,
        }
        direction.small_ns += busy_ns * rows.number(row, "small_pct").unwrap_or_default() / 100.0;
    }
    directions
}

const LINK_COLUMNS: [&str; 8] =
    ["rank", "gpu", "direction", "copies", "total_bytes", "gb_per_s", "peak_gb_per_s", "utilization_pct"];

/// Large copies that are far slower than their link, by direction.
pub(crate) fn slow_copies(case: &RuleContext<'_>) -> Vec<Observation> {
    by_direction(case, false)
}

/// Copies so small that most of their time is latency, by direction.
pub(crate) fn small_copies(case: &RuleContext<'_>) -> Vec<Observation> {
    by_direction(case, true)
}

fn by_direction(case: &RuleContext<'_>, small: bool) -> Vec<Observation> {
    let rows = case.rows(links());
    let mut observations = Vec::new();
    for (name, direction) in directions(case) {
        let small_pct = if direction.busy_ns > 0.0 { direction.small_ns / direction.busy_ns * 100.0 } else { 0.0 };
        let taken_ns = if small { direction.small_ns } else { direction.busy_ns };
        let pct = case.pct_of_spans(taken_ns as i64);
        let gb_per_s = if direction.busy_ns > 0.0 { direction.bytes / direction.busy_ns } else { 0.0 };
        let peak = direction.all_known.then(|| direction.at_peak / direction.busy_ns).filter(|peak| *peak > 0.0);
        let utilization = peak.map(|peak| gb_per_s / peak * 100.0);
        let is_slow = match utilization {
            Some(pct) => pct < case.threshold("min_utilization_pct"),
            // Only for links to the host is one limit valid everywhere.
            None => matches!(name.as_str(), "H2D" | "D2H") && gb_per_s < case.threshold("min_gb_per_s"),
        };
        let is_small = small_pct >= case.threshold("small_pct");
        if is_small != small || !small && !is_slow || direction.bytes <= 0.0 {
            continue;
        }
        let copies = rows.sum(direction.places.iter().copied(), "copies");
        // The ideal time is the time to move the bytes at the peak.
        let ideal_ns = peak.map_or(0.0, |peak| direction.bytes / peak);
        let places = rows.sorted_down(direction.places, "busy_ns");
        observations.push(
            case.observe(pct)
                .about(name)
                .value("copies", copies)
                .value("total_bytes", direction.bytes)
                .value("mean_bytes", direction.bytes / copies.max(1) as f64)
                .value("busy_ns", direction.busy_ns)
                .value("gb_per_s", (gb_per_s * 10.0).round() / 10.0)
                .value("peak_gb_per_s", peak.map(|peak| (peak * 10.0).round() / 10.0))
                .value("utilization_pct", utilization)
                .value("small_pct", small_pct)
                .value("small_ns", direction.small_ns)
                .saving((direction.busy_ns - ideal_ns).min(taken_ns) as i64)
                .evidence(case.evidence(&rows, &places, &LINK_COLUMNS)),
        );
    }
    observations
}

/// Whether a call blocks its thread during copies although it need not.
fn is_blocking(rows: &Rows<'_>, row: usize) -> bool {
    matches!(rows.text(row, "verdict"), Some("blocking" | "pageable memory suspected"))
}

/// Idle time during blocking calls before and after their copies, on the GPUs of these: the time that the calls cause, and that in which
/// launched work starts late meanwhile. Causes of much idle time have findings of their own.
fn idle_in_copies(case: &RuleContext<'_>) -> IdleInCopies {
    let rows = case.rows(copy_calls_of_gpus());
    let calls: BTreeSet<(GpuKey, &str)> = rows
        .matching(is_blocking)
        .into_iter()
        .filter_map(|row| Some((gpu_of(&rows, row), rows.text(row, "api_name")?)))
        .collect();
    let idle = case.rows(idle_calls());
    let mut all_places = Vec::new();
    let mut of_cause = |cause: &str| {
        let places = idle.matching(|idle, row| idle.text(row, "cause") == Some(cause));
        if case.pct_of_spans(idle.sum(places.iter().copied(), "idle_ns")) >= case.threshold("max_cause_pct") {
            return 0;
        }
        let is_in_copy =
            |row: &usize| idle.text(*row, "name").is_some_and(|name| calls.contains(&(gpu_of(&idle, *row), name)));
        let places: Vec<usize> = places.into_iter().filter(is_in_copy).collect();
        all_places.extend_from_slice(&places);
        idle.sum(places, "idle_ns")
    };
    let caused_ns = of_cause("host_bound").saturating_add(of_cause("sync"));
    let late_ns = of_cause("launch_delay");
    let places = idle.sorted_down(all_places, "idle_ns");
    IdleInCopies { caused_ns, late_ns, places }
}

/// Idle time during blocking copies.
struct IdleInCopies {
    /// The time that the calls cause.
    caused_ns: i64,
    /// The time in which launched work starts late meanwhile.
    late_ns: i64,
    /// The rows of idle time by call that both are in, the longest first.
    places: Vec<usize>,
}

/// Calls that block their thread during a copy although they need not.
pub(crate) fn blocking_copies(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(copy_calls());
    let places = rows.matching(is_blocking);
    let held_ns = rows.sum(places.iter().copied(), "held_ns");
    let copy_ns = rows.sum(places.iter().copied(), "copy_ns");
    let IdleInCopies { caused_ns, late_ns, places: idle_places } = idle_in_copies(case);
    let idle_rows = case.rows(idle_calls());
    let idle_ns = caused_ns.saturating_add(late_ns);
    let pct = case.pct_of_spans(held_ns.saturating_add(idle_ns));
    let times = case.rows(time_question());
    let exposed_ns = times.sum(times.places(), "exposed_copy_ns");
    let places = rows.sorted_down(places, "held_ns");
    let pageable = places.iter().any(|row| rows.text(*row, "verdict") == Some("pageable memory suspected"));
    let mut names: Vec<&str> = places.iter().filter_map(|row| rows.text(*row, "api_name")).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names.truncate(3);
    let columns = ["direction", "api_name", "copies", "total_bytes", "copy_ns", "held_ns", "held_pct", "verdict"];
    case.observe(pct)
        .value("copies", rows.sum(places.iter().copied(), "copies"))
        .value("held_ns", held_ns)
        .value("idle_ns", idle_ns)
        .value("copy_ns", copy_ns)
        .value("calls", names.join(", "))
        .value("pageable", pageable)
        .saving(held_ns.min(exposed_ns).saturating_add(caused_ns))
        .evidence(case.evidence(&rows, &places, &columns))
        .evidence(
            case.evidence(&idle_rows, &idle_places, &["rank", "gpu", "cause", "name", "idle_ns"])
                .filter(|_| !idle_places.is_empty()),
        )
}

/// Calls that block their thread while memory is filled although they need not.
pub(crate) fn blocking_fills(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(fills());
    let places = rows.matching(|rows, row| rows.text(row, "verdict") == Some("blocking"));
    let held_ns = rows.sum(places.iter().copied(), "held_ns");
    let pct = case.pct_of_spans(held_ns);
    let places = rows.sorted_down(places, "held_ns");
    let mut names: Vec<&str> = places.iter().filter_map(|row| rows.text(*row, "api_name")).collect();
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names.truncate(3);
    let columns = ["api_name", "fills", "fill_ns", "max_ns", "held_ns", "held_pct", "verdict"];
    case.observe(pct)
        .value("fills", rows.sum(places.iter().copied(), "fills"))
        .value("held_ns", held_ns)
        .value("calls", names.join(", "))
        .evidence(case.evidence(&rows, &places, &columns))
}

/// Allocations of a size that grow in number.
pub fn leak(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(leaks());
    let places = rows.matching(|rows, row| rows.text(row, "verdict") == Some("growing"));
    let places = rows.sorted_down(places, "leaked_bytes");
    let Some(first) = places.first().copied() else { return Observation::default() };
    let leaked = rows.sum(places.iter().copied(), "leaked_bytes");
    // The share of the memory of the GPU that leaks most, if its size is recorded.
    let of = |row: usize| (rows.integer(row, "rank"), rows.integer(row, "gpu"));
    let worst = places.iter().copied().filter(|row| of(*row) == of(first));
    let worst_bytes = rows.sum(worst, "leaked_bytes");
    let waters = case.rows(high_water());
    let of_water = |row: usize| (waters.integer(row, "rank"), waters.integer(row, "gpu"));
    let capacity = waters.places().find(|row| of_water(*row) == of(first)).and_then(|row| {
        Some(waters.number(row, "peak_bytes")? / waters.number(row, "peak_pct").filter(|pct| *pct > 0.0)? * 100.0)
    });
    let pct = capacity.map(|capacity| worst_bytes as f64 / capacity * 100.0);
    // A leak matters even if it is small: it grows with the run.
    let priority = pct.and_then(|pct| case.priority(pct, "pct")).unwrap_or(Priority::Medium);
    let columns = ["rank", "gpu", "api_name", "bytes", "allocations", "of_size", "leaked_bytes", "fate"];
    Observation::new(priority)
        .value("leaked_bytes", leaked)
        .value("allocations", rows.sum(places.iter().copied(), "allocations"))
        .numbers(&rows, first, &["bytes"])
        .value("call", rows.text(first, "api_name"))
        .integers(&rows, first, &["rank", "gpu"])
        .value("pct", pct)
        .evidence(case.evidence(&rows, &places, &columns))
}

/// Memory that is allocated and freed again and again.
pub fn allocation_churn(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(ask::allocation_churn());
    let places = rows.matching(|rows, row| rows.integer(row, "freed").is_some_and(|freed| freed > 0));
    let call_ns = rows.sum(places.iter().copied(), "call_ns");
    let pct = case.pct_of_spans(call_ns);
    let places = rows.sorted_down(places, "call_ns");
    let columns = ["bytes", "level", "allocations", "freed", "median_life_ns", "call_ns", "per_second"];
    case.observe(pct)
        .value("call_ns", call_ns)
        .value("allocations", rows.sum(places.iter().copied(), "allocations"))
        .value("sizes", places.len())
        .evidence(case.evidence(&rows, &places, &columns))
}

/// A GPU whose memory was nearly full.
pub(crate) fn memory_nearly_full(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(high_water());
    let places = rows.matching(|rows, row| {
        rows.text(row, "level") == Some("REAL") && rows.number(row, "peak_pct").is_some_and(|pct| pct > 0.0)
    });
    let places = rows.sorted_down(places, "peak_pct");
    let Some(first) = places.first().copied() else { return Observation::default() };
    let pct = rows.number(first, "peak_pct").unwrap_or_default();
    let columns = ["rank", "gpu", "peak_bytes", "peak_pct", "peak_allocations", "end_bytes"];
    case.observe(pct)
        .integers(&rows, first, &["peak_bytes", "rank", "gpu"])
        .evidence(case.evidence(&rows, &places, &columns))
}

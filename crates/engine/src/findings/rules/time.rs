//! Use of GPU time.

use std::collections::BTreeMap;

use super::idle_causes::{is_blocked, is_serialized, with_host_activity};
use super::per_gpu::per_gpu;
use crate::findings::priority::Priority;
use crate::findings::questions::{
    copies, gaps, graphs, idle, idle_calls, iterations, kernels, launches, time_question,
};
use crate::findings::rule_context::{Observation, Rows, RuleContext};
use crate::findings::spans::gpu_of;

/// The idle time of a row, without gaps that are not idle time.
fn idle_ns(case: &RuleContext<'_>, rows: &Rows<'_>, row: usize) -> i64 {
    let (broken_ns, _) = case.spans.broken_of(gpu_of(rows, row), rows.text(row, "cause").unwrap_or_default());
    rows.integer(row, "idle_ns").unwrap_or_default().saturating_sub(broken_ns).max(0)
}

/// The longest interval of a row, without gaps that are not idle time: if it has such gaps, the longest remaining gap with this cause.
fn longest_ns(case: &RuleContext<'_>, rows: &Rows<'_>, row: usize) -> Option<i64> {
    let (gpu, cause) = (gpu_of(rows, row), rows.text(row, "cause"));
    if case.spans.broken_of(gpu, cause.unwrap_or_default()).1 == 0 {
        return rows.integer(row, "max_ns");
    }
    let gaps = case.rows(gaps());
    let others = gaps.places().filter(|gap| !case.spans.breaks().contains(gap));
    let others = others.filter(|gap| gpu_of(&gaps, *gap) == gpu && gaps.text(*gap, "cause") == cause);
    others.filter_map(|gap| gaps.integer(gap, "duration_ns")).max()
}

/// Idle time of a cause over all GPUs, if it reaches a threshold, with what the host did meanwhile.
fn idle_of(case: &RuleContext<'_>, cause: &str) -> Observation {
    let rows = case.rows(idle());
    let places = rows.matching(|rows, row| rows.text(row, "cause") == Some(cause) && !is_serialized(case, rows, row));
    let idle = per_gpu(case, &rows, places, |row| idle_ns(case, &rows, row));
    let broken = |row: &usize| case.spans.broken_of(gpu_of(&rows, *row), cause).1;
    let gaps = rows.sum(idle.places.iter().copied(), "stretches") - idle.places.iter().map(broken).sum::<i64>();
    let longest = idle.places.iter().filter_map(|row| longest_ns(case, &rows, *row)).max();
    let columns = ["rank", "gpu", "cause", "stretches", "idle_ns", "mean_ns", "max_ns", "idle_pct"];
    let priority = if cause == "host_bound" { idle.priority_of_late(case) } else { idle.priority(case) };
    let observation = idle
        .observation(priority)
        .value("gaps", gaps)
        .value("longest_ns", longest)
        .value("mean_ns", idle.total_ns as f64 / gaps.max(1) as f64)
        .saving(idle.total_ns)
        .evidence(case.evidence(&rows, &idle.places, &columns));
    with_host_activity(case, cause, idle.total_ns, observation)
}

/// GPUs that wait for the next launch by the host, with the kernels that are launch bound.
pub fn host_bound_idle(case: &RuleContext<'_>) -> Observation {
    with_launches(case, idle_of(case, "host_bound"))
}

/// GPUs that wait between the return of the launching call and the start of the kernel.
pub fn launch_delay_idle(case: &RuleContext<'_>) -> Observation {
    with_launches(case, idle_of(case, "launch_delay"))
}

/// Adds the kernels that are launch bound, the most exposed first.
fn with_launches(case: &RuleContext<'_>, observation: Observation) -> Observation {
    let rows = case.rows(launches());
    let bound = rows.matching(|rows, row| rows.text(row, "launch_bound") == Some("yes"));
    let calls = rows.sum(bound.iter().copied(), "calls");
    let kernel_ns = rows.sum(bound.iter().copied(), "total_kernel_ns");
    let of = bound.len();
    let bound = rows.sorted_down(bound, "exposed_launch_ns");
    let columns =
        ["kernel_name", "calls", "median_api_ns", "median_queue_delay_ns", "median_kernel_ns", "exposed_launch_ns"];
    observation
        .value("bound_kernels", of)
        .value("bound_calls", calls)
        .value("bound_mean_ns", kernel_ns as f64 / calls.max(1) as f64)
        .evidence(case.evidence(&rows, &bound, &columns).filter(|_| !bound.is_empty()))
}

/// GPUs that run dry because the host waits for them before it launches more.
pub fn sync_idle(case: &RuleContext<'_>) -> Observation {
    idle_of(case, "sync")
}

/// Idle time that no record explains.
pub fn unexplained_idle(case: &RuleContext<'_>) -> Observation {
    idle_of(case, "no_record")
}

/// Steps that repeat and are launched kernel by kernel while GPUs wait for launches. Only short gaps count in which no call blocks
/// the host: a graph shortens no others.
pub fn graph_candidate(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(iterations());
    let repeats = |row: &usize| {
        let reaches = |column: &str, threshold: &str| {
            rows.number(*row, column).is_some_and(|value| value >= case.threshold(threshold))
        };
        reaches("steady", "min_steps") && reaches("period", "min_kernels")
    };
    let places: Vec<usize> = rows.places().filter(repeats).collect();
    let Some(first) = places.first() else { return Observation::default() };
    let (replayed, all) = (case.rows(graphs()), case.rows(kernels()));
    let in_graphs = replayed.sum(replayed.places(), "kernels");
    if RuleContext::pct(in_graphs, all.sum(all.places(), "calls")) > case.threshold("max_in_graphs_pct") {
        return Observation::default();
    }
    let idle_rows = case.rows(idle_calls());
    let is_launch =
        |rows: &Rows<'_>, row: usize| matches!(rows.text(row, "cause"), Some("host_bound" | "launch_delay"));
    let waits = idle_rows.matching(|rows, row| is_launch(rows, row) && !is_blocked(rows, row));
    // Only what lies within the steps of a rank can go, on each of its GPUs.
    let mut left: BTreeMap<(i64, i64), i64> = BTreeMap::new();
    let mut within: BTreeMap<usize, i64> = BTreeMap::new();
    for row in &waits {
        let gpu = gpu_of(&idle_rows, *row);
        let of_rank = |place: &&usize| rows.integer(**place, "rank") == Some(gpu.0);
        let steps = || rows.sum(places.iter().filter(of_rank).copied(), "steady_ns");
        let left = left.entry(gpu).or_insert_with(steps);
        let kept = idle_rows.integer(*row, "short_ns").unwrap_or_default().min(*left);
        *left -= kept;
        within.insert(*row, kept);
    }
    let idle = per_gpu(case, &idle_rows, waits, |row| within.get(&row).copied().unwrap_or_default());
    let columns = ["rank", "period", "iterations", "steady", "median_ns", "kernel_pct"];
    idle.observation(idle.priority(case))
        .value("period", rows.integer(*first, "period"))
        .value("steps", rows.integer(*first, "steady"))
        .value("step_ns", rows.number(*first, "median_ns"))
        .saving(idle.total_ns)
        .evidence(case.evidence(&rows, &places, &columns))
}

/// Copies while nothing computes or communicates.
pub fn exposed_copy(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(copies());
    let places = rows.sorted_down(rows.places().collect(), "busy_ns");
    let count = rows.sum(places.iter().copied(), "copies");
    let total_bytes = rows.sum(places.iter().copied(), "total_bytes");
    let columns = ["direction", "copies", "total_bytes", "mean_bytes", "busy_ns", "gb_per_s"];
    exposed(case, "exposed_copy_ns", "copy_ns")
        .value("copies", count)
        .value("mean_bytes", total_bytes as f64 / count.max(1) as f64)
        .evidence(case.evidence(&rows, &places, &columns).filter(|_| !places.is_empty()))
}

/// Time with only copies or communication.
pub fn exposed(case: &RuleContext<'_>, exposed: &str, all: &str) -> Observation {
    let rows = case.rows(time_question());
    let places = rows.places().collect();
    let time = per_gpu(case, &rows, places, |row| rows.integer(row, exposed).unwrap_or_default());
    let columns = ["rank", "gpu", "span_ns", all, exposed, "busy_pct"];
    time.observation(time.priority(case))
        .value("all_ns", rows.sum(rows.places(), all))
        .saving(time.total_ns)
        .evidence(case.evidence(&rows, &time.places, &columns))
}

/// Most of the process lifetime passed before the first work on a GPU.
pub fn start_up(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(time_question());
    let places = rows.matching(|rows, row| {
        rows.integer(row, "lead_ns").is_some_and(|lead| lead > 0) && !is_serialized(case, rows, row)
    });
    let lead_ns = rows.sum(places.iter().copied(), "lead_ns");
    let lifetime_ns = ["lead_ns", "span_ns", "tail_ns"]
        .iter()
        .fold(0_i64, |sum, column| sum.saturating_add(rows.sum(places.iter().copied(), column)));
    let pct = RuleContext::pct(lead_ns, lifetime_ns);
    let places = rows.sorted_down(places, "lead_ns");
    let mean = |sum: i64| sum as f64 / places.len().max(1) as f64;
    case.observe(pct)
        .value("lead_ns", mean(lead_ns))
        .value("span_ns", mean(rows.sum(places.iter().copied(), "span_ns")))
        .evidence(case.evidence(&rows, &places, &["rank", "gpu", "lead_ns", "span_ns", "tail_ns", "busy_ns"]))
}

/// GPUs that a single process saw but did not use.
pub fn unused_gpus(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(time_question());
    let used = rows.places().len();
    // Communicating processes have partners: the work of their GPUs is in other traces.
    let alone = rows.sum(rows.places(), "comm_ns") == 0;
    let visible = case.collected.visible_gpus.filter(|visible| alone && used > 0 && *visible > used);
    let places: Vec<usize> = rows.places().collect();
    let priority = if used > 1 { Priority::Low } else { Priority::Info };
    let columns = ["rank", "gpu", "span_ns", "busy_ns", "busy_pct"];
    Observation::new(visible.map(|_| priority))
        .value("used", used)
        .value("visible", visible)
        .evidence(case.evidence(&rows, &places, &columns))
}

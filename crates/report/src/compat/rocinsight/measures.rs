//! The numbers of a document.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::names::names;
use wavesieve_engine::findings::{Answers, QueryRequest, Rows};

/// Upper edges of the bins of short kernels in microseconds, with their labels.
const SHORT_BINS: [(&str, &str); 3] = [("1", "0-1μs"), ("5", "1-5μs"), ("10", "5-10μs")];
/// Kernels that take less time are short.
const SHORT_US: i64 = 10;
/// Maximum number of short kernels that are named.
const MAX_OFFENDERS: usize = 10;

fn time() -> QueryRequest {
    QueryRequest::new("time_breakdown").by(&["process", "gpu"])
}

fn short(threshold_us: &str) -> QueryRequest {
    QueryRequest::new("short_kernels").with("threshold_us", threshold_us)
}

fn kernels() -> QueryRequest {
    QueryRequest::new("kernel_summary")
}

/// Queries for a document, in addition to those of an analysis.
pub fn questions() -> Vec<QueryRequest> {
    let named = ["kernel_summary", "copy_summary", "counter_summary", "kernel_by_category", "att_hotspots"];
    let mut questions: Vec<QueryRequest> = named.into_iter().map(QueryRequest::new).collect();
    questions.push(time());
    questions.extend(SHORT_BINS.map(|(threshold, _)| short(threshold)));
    questions
}

/// How the GPUs spent their spans, summed up over processes and GPUs, so that shares of several GPUs remain shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// First start to last end.
    pub runtime_ns: i64,
    /// Durations of kernels.
    pub kernels_ns: i64,
    /// Durations of copies.
    pub copies_ns: i64,
    /// Time with a kernel.
    pub compute_ns: i64,
    /// Time with a copy and no kernel.
    pub exposed_copies_ns: i64,
    /// Time with neither.
    pub idle_ns: i64,
}

impl Times {
    /// Times of an analysis.
    pub fn new(answers: &Answers) -> Self {
        let (time, copies) = (time(), QueryRequest::new("copy_summary"));
        let (time, copies) = (Rows::over(answers.get(&time)), Rows::over(answers.get(&copies)));
        let sum = |column: &str| time.sum(time.places(), column);
        Self {
            runtime_ns: sum("span_ns"),
            kernels_ns: sum("kernel_sum_ns"),
            copies_ns: copies.sum(copies.places(), "total_ns"),
            compute_ns: sum("busy_ns").saturating_sub(sum("exposed_copy_ns")),
            exposed_copies_ns: sum("exposed_copy_ns"),
            idle_ns: sum("idle_ns"),
        }
    }

    /// A share of the runtime in percent, with two decimals. It is never above 100, which the schema forbids.
    pub fn pct(&self, ns: i64) -> f64 {
        if self.runtime_ns <= 0 { 0.0 } else { rounded(ns as f64 / self.runtime_ns as f64 * 100.0).min(100.0) }
    }

    /// Part of the runtime without kernels and copies.
    pub(crate) fn overhead_ns(&self) -> i64 {
        self.runtime_ns.saturating_sub(self.kernels_ns).saturating_sub(self.copies_ns).max(0)
    }

    /// The breakdown. Its API overhead is all time without kernels and copies, and its idle time is the rest.
    pub fn breakdown(&self) -> Value {
        let overhead_ns = self.overhead_ns();
        let rest = self.runtime_ns.saturating_sub(self.kernels_ns).saturating_sub(self.copies_ns);
        let idle_ns = rest.saturating_sub(overhead_ns).max(0);
        json!({
            "total_runtime_ns": self.runtime_ns,
            "kernel_time_ns": self.kernels_ns,
            "kernel_time_pct": self.pct(self.kernels_ns),
            "memcpy_time_ns": self.copies_ns,
            "memcpy_time_pct": self.pct(self.copies_ns),
            "api_overhead_ns": overhead_ns,
            "api_overhead_pct": self.pct(overhead_ns),
            "idle_time_ns": idle_ns,
            "idle_time_pct": self.pct(idle_ns),
        })
    }

    /// The timeline: covered time, so that its parts add up.
    pub fn timeline(&self) -> Value {
        json!({
            "total_wall_ns": self.runtime_ns,
            "true_compute_ns": self.compute_ns,
            "true_compute_pct": self.pct(self.compute_ns),
            "exposed_memcpy_ns": self.exposed_copies_ns,
            "exposed_memcpy_pct": self.pct(self.exposed_copies_ns),
            "idle_ns": self.idle_ns,
            "idle_pct": self.pct(self.idle_ns),
        })
    }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The kernels with the most time.
pub fn hotspots(answers: &Answers, most: usize) -> Vec<Value> {
    let question = kernels();
    let rows = Rows::over(answers.get(&question));
    let most = if most == 0 { usize::MAX } else { most };
    let hotspot = |row: usize| {
        json!({
            "rank": row + 1,
            "name": rows.text(row, "kernel_name").unwrap_or_default(),
            "calls": rows.integer(row, "calls"),
            "total_duration_ns": rows.integer(row, "total_ns"),
            "avg_duration_ns": rows.number(row, "mean_ns"),
            "min_duration_ns": rows.integer(row, "min_ns"),
            "max_duration_ns": rows.integer(row, "max_ns"),
            "pct_of_total": rows.number(row, "pct").map(rounded),
        })
    };
    rows.places().take(most).map(hotspot).collect()
}

/// Copies by direction.
pub fn copies(answers: &Answers) -> Value {
    let question = QueryRequest::new("copy_summary");
    let rows = Rows::over(answers.get(&question));
    let mut by_direction: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for row in rows.places() {
        by_direction.entry(names().direction(rows.text(row, "direction").unwrap_or_default())).or_default().push(row);
    }
    let mut copies = Map::new();
    for (direction, places) in by_direction {
        let sum = |column: &str| rows.sum(places.iter().copied(), column);
        let (count, bytes, total_ns) = (sum("copies"), sum("total_bytes"), sum("total_ns"));
        // Bytes cover only copies with a known size, so number and time must do the same.
        let sized = count.saturating_sub(sum("copies_without_size"));
        let ratio = |of: i64, to: i64| if to > 0 { of as f64 / to as f64 } else { 0.0 };
        let of_direction = json!({
            "count": count,
            "total_bytes": bytes,
            "total_duration_ns": total_ns,
            "avg_bytes": ratio(bytes, sized),
            "avg_duration_ns": ratio(total_ns, count),
            "bandwidth_gbps": (ratio(bytes, sum("sized_busy_ns")) * 1e4).round() / 1e4,
        });
        copies.insert(direction.to_owned(), of_direction);
    }
    Value::Object(copies)
}

/// Counters, and values derived from the common ones. Wavefronts are those launched per dispatch, not an occupancy.
pub fn counters(answers: &Answers) -> Value {
    let question = QueryRequest::new("counter_summary");
    let rows = Rows::over(answers.get(&question));
    if rows.is_empty() {
        return json!({ "has_counters": false, "metrics": null, "counters": null });
    }
    let mut counters = Map::new();
    let mut number = BTreeMap::new();
    for row in rows.places() {
        let name = rows.text(row, "counter").unwrap_or_default();
        number.insert(name, row);
        let counter = json!({
            "sample_count": rows.integer(row, "dispatches"),
            "avg_value": rows.number(row, "mean"),
            "min_value": rows.number(row, "min"),
            "max_value": rows.number(row, "max"),
            "total_value": rows.number(row, "total"),
        });
        counters.insert(name.to_owned(), counter);
    }
    let value = |name: &str, column: &str| rows.number(*number.get(name)?, column);
    let active = value("GRBM_GUI_ACTIVE", "mean").zip(value("GRBM_COUNT", "mean").filter(|count| *count > 0.0));
    let utilization = active.map(|(active, count)| rounded(active / count * 100.0).clamp(0.0, 100.0));
    let waves = |column: &str| value("SQ_WAVES", column).filter(|waves| *waves >= 0.0);
    json!({
        "has_counters": true,
        "metrics": {
            "gpu_utilization_pct": utilization,
            "avg_waves": waves("mean"),
            "max_waves": waves("max"),
            "min_waves": waves("min"),
        },
        "counters": counters,
    })
}

/// Kernel time by the categories of the format. Categories that it does not know are combined into one.
pub fn categories(answers: &Answers, times: &Times) -> Vec<Value> {
    let question = QueryRequest::new("kernel_by_category");
    let rows = Rows::over(answers.get(&question));
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for row in rows.places() {
        let category = names().kernel_category(rows.text(row, "category").unwrap_or_default());
        let (calls, total_ns) = sums.entry(category).or_default();
        *calls = calls.saturating_add(rows.integer(row, "calls").unwrap_or_default());
        *total_ns = total_ns.saturating_add(rows.integer(row, "total_ns").unwrap_or_default());
    }
    let all_ns = sums.values().fold(0_i64, |sum, (_, total_ns)| sum.saturating_add(*total_ns));
    let mut sums: Vec<(&str, (i64, i64))> = sums.into_iter().collect();
    sums.sort_by_key(|(category, (_, total_ns))| (std::cmp::Reverse(*total_ns), *category));
    let share = |ns: i64, of_ns: i64| if of_ns > 0 { rounded(ns as f64 / of_ns as f64 * 100.0) } else { 0.0 };
    let category = |(category, (calls, total_ns)): (&str, (i64, i64))| {
        json!({
            "category": category,
            "count": calls,
            "total_ns": total_ns,
            "pct_of_kernel_time": share(total_ns, all_ns),
            "avg_duration_ns": total_ns.checked_div(calls).unwrap_or_default(),
            "pct_of_total_time": share(total_ns, times.runtime_ns),
        })
    };
    sums.into_iter().map(category).collect()
}

/// Kernels that take less than ten microseconds.
pub fn short_kernels(answers: &Answers) -> Value {
    let all = kernels();
    let all = Rows::over(answers.get(&all));
    let (total, total_ns) = (all.sum(all.places(), "calls"), all.sum(all.places(), "total_ns"));
    let mut below = 0;
    let mut histogram = Vec::new();
    for (threshold, label) in SHORT_BINS {
        let question = short(threshold);
        let rows = Rows::over(answers.get(&question));
        let calls = rows.sum(rows.places(), "calls");
        if calls > below {
            histogram.push(json!({ "bucket_label": label, "count": calls - below }));
        }
        below = calls;
    }
    let question = short("10");
    let rows = Rows::over(answers.get(&question));
    let wasted_ns = rows.sum(rows.places(), "total_ns");
    let share = |part: i64, of: i64| if of > 0 { rounded(part as f64 / of as f64 * 100.0) } else { 0.0 };
    let offender = |row: usize| {
        json!({
            "name": rows.text(row, "kernel_name").unwrap_or_default(),
            "count": rows.integer(row, "calls"),
            "avg_us": rows.number(row, "mean_ns").map(|ns| ns.round() / 1e3),
            "total_wasted_ns": rows.integer(row, "total_ns"),
        })
    };
    json!({
        "threshold_us": SHORT_US,
        "total_kernels": total,
        "short_kernel_count": below,
        "short_kernel_pct": share(below, total),
        "wasted_ns": wasted_ns,
        "wasted_pct_of_kernel_time": share(wasted_ns, total_ns),
        "histogram": histogram,
        "top_offenders": rows.places().take(MAX_OFFENDERS).map(offender).collect::<Vec<Value>>(),
    })
}

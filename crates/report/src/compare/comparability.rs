//! Whether two sides can be compared at all, before anything is judged.

use std::collections::BTreeSet;

use serde::Serialize;

use super::basis::Basis;
use super::digest::{Digest, RunFacts};
use super::matching::KernelPair;
use super::side::Side;

/// Importance of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Info,
    Warn,
    /// No verdict is given.
    Blocking,
}

impl Level {
    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Blocking => "blocking",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    pub check: &'static str,
    pub level: Level,
    pub base: String,
    pub new: String,
    pub message: String,
}

/// Minimum matched share of the kernel time.
const MIN_MATCHED: f64 = 0.5;
/// Number of steady iterations below which bands are wide.
const FEW_ITERATIONS: usize = 5;
/// Relevant difference of the kernels in an iteration.
const KERNELS_PER_ITERATION: f64 = 0.05;
/// Minimum number of runs of a side for a trend that is not chance: of all orders of five values, one in 60 rises or
/// falls throughout.
const MIN_RUNS_OF_TREND: usize = 5;

/// Blocking differences that the user accepts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed {
    /// Different architectures.
    pub architectures: bool,
}

/// The checks with a result, most severe first.
pub fn checks(
    base: &Side,
    new: &Side,
    basis: Basis,
    rows: &[KernelPair<'_>],
    are_renamed: bool,
    allowed: Allowed,
) -> Vec<Check> {
    let mut found = Vec::new();
    let mut add = |check, level, [base, new]: [String; 2], message: &str| {
        found.push(Check { check, level, base, new, message: message.to_owned() });
    };
    let none = || [String::new(), String::new()];
    let differing = |of: fn(&RunFacts) -> &BTreeSet<String>| {
        let [of_base, of_new] = [base, new].map(|side| texts(side, of));
        (of_base != of_new).then(|| [joined(&of_base), joined(&of_new)])
    };
    let architectures = differing(|facts| &facts.architectures);
    if let Some(sides) = architectures.filter(|sides| sides.iter().all(|side| !side.is_empty())) {
        let level = if allowed.architectures { Level::Warn } else { Level::Blocking };
        add(
            "architecture",
            level,
            sides,
            "the GPUs have different architectures; pass --allow arch to compare them all the same",
        );
    }
    let keys = [base, new].map(Side::keys);
    if base.keys() != new.keys() {
        let counts = keys.map(|keys| keys.len().to_string());
        add(
            "gpus",
            Level::Blocking,
            counts,
            "the sides have different GPUs by rank and index; choose common ones with --rank and --gpu",
        );
    }
    if are_renamed {
        add(
            "ranks",
            Level::Warn,
            none(),
            "the GPUs have other ranks or indices on the new side and were paired in order",
        );
    }
    let serialized = [base, new].map(|side| side.runs.iter().any(|run| run.facts.is_serialized));
    if serialized.contains(&true) {
        let words = serialized.map(|is| if is { "counters" } else { "none" }.to_owned());
        add(
            "counter_collection",
            Level::Blocking,
            words,
            "counters were collected, which serializes dispatches; compare traces without --pmc",
        );
    }
    for (side, name) in [(base, "base"), (new, "new")] {
        if side.gpus().all(|gpu| gpu.run.span_ns == 0) {
            let message = format!("the {name} side has no GPU work with valid times");
            add("no_times", Level::Blocking, none(), &message);
        }
    }
    let units = [base, new].map(|side| side.units(basis));
    if units.contains(&0) {
        add(
            "no_iterations",
            Level::Blocking,
            units.map(|count| count.to_string()),
            "a side has no unit of the basis; choose --basis run",
        );
    }
    let (matched, exact) = shares(rows);
    if rows.is_empty() {
        add("no_kernels", Level::Info, none(), "neither side has a kernel");
    } else if rows.iter().all(|row| row.base.is_none() || row.new.is_none()) {
        add(
            "no_common_kernel",
            Level::Blocking,
            none(),
            "the sides have no kernel in common; compare traces of the same program",
        );
    } else if matched < MIN_MATCHED {
        let share = format!("{:.1}%", matched * 100.0);
        let message = "less than half of the kernel time could be matched";
        add("matched_time", Level::Blocking, [share.clone(), share], message);
    } else {
        let shares = [format!("{:.1}%", matched * 100.0), format!("{:.1}%", exact * 100.0)];
        add(
            "matched_time",
            Level::Info,
            shares,
            "share of the kernel time that was matched, and that was matched by full name and shape",
        );
    }
    let lacking = rows.iter().filter(|row| row.lacks_inputs).count();
    if lacking > 0 {
        add(
            "inputs",
            Level::Info,
            none(),
            &format!(
                "the sides recorded the inputs of different shares of the dispatches of {lacking} kernels, where inputs do not count"
            ),
        );
    }
    if let Some(sides) = differing(|facts| &facts.domains) {
        add(
            "api_domains",
            Level::Warn,
            sides,
            "different API domains were traced; tracing costs host time, so that idle time has no named cause",
        );
    }
    let filters = [base, new].map(|side| side.runs.iter().map(|run| run.facts.filters.join(" ")).collect());
    let [of_base, of_new]: &[BTreeSet<String>; 2] = &filters;
    if of_base != of_new {
        let words = [of_base, of_new].map(joined).map(|text| if text.is_empty() { "none".to_owned() } else { text });
        add("filters", Level::Warn, words, "the sides were filtered in different ways");
    }
    if let Some(sides) = differing(|facts| &facts.formats) {
        add("formats", Level::Info, sides, "the traces have different formats or schema versions");
    }
    let damage = [base, new].map(|side| side.runs.iter().map(|run| run.facts.damage.len()).sum::<usize>());
    if damage.iter().any(|count| *count > 0) {
        add("damage", Level::Warn, damage.map(|count| count.to_string()), "parts of the traces could not be read");
    }
    let trends = [base, new].map(has_trend);
    if trends.contains(&true) {
        let words = trends.map(|has| if has { "trend" } else { "none" }.to_owned());
        add("trend", Level::Warn, words, "the runs of a side get longer or shorter in the order of their names");
    }
    if have_other_devices(base, new) {
        add("devices", Level::Warn, none(), "the two sides ran on other GPUs, which widens the assumed noise");
    }
    if basis == Basis::Iteration {
        let counts = [base, new].map(Side::steady_iterations);
        if counts.iter().any(|count| *count < FEW_ITERATIONS) {
            add("iterations", Level::Warn, counts.map(|count| count.to_string()), "there are few units of the basis");
        }
        let [one, other] = [base, new].map(kernels_per_iteration);
        if (one - other).abs() > KERNELS_PER_ITERATION * one.max(other) {
            let means = [one, other].map(|mean| format!("{mean:.1}"));
            add("kernels_per_iteration", Level::Warn, means, "iterations have different numbers of kernels");
        }
    }
    found.sort_by_key(|check| std::cmp::Reverse(check.level));
    found
}

/// Whether the spans of the runs of a side, in their order, all grow or all shrink.
fn has_trend(side: &Side) -> bool {
    let of_run =
        |run: &Digest| run.gpus.iter().map(|gpu| gpu.run.span_ns as f64).sum::<f64>() / run.gpus.len().max(1) as f64;
    let spans: Vec<f64> = side.runs.iter().map(of_run).collect();
    let steps = || spans.iter().zip(spans.iter().skip(1));
    spans.len() >= MIN_RUNS_OF_TREND && (steps().all(|(one, next)| next > one) || steps().all(|(one, next)| next < one))
}

/// Whether the devices of both sides are known and differ.
pub(crate) fn have_other_devices(base: &Side, new: &Side) -> bool {
    let of = |side| texts(side, |facts| &facts.devices);
    of(base) != of(new)
}

fn texts(side: &Side, of: fn(&RunFacts) -> &BTreeSet<String>) -> BTreeSet<String> {
    side.runs.iter().flat_map(|run| of(&run.facts)).cloned().collect()
}

fn joined(texts: &BTreeSet<String>) -> String {
    texts.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Shares of the kernel time that were matched at all, and exactly.
fn shares(rows: &[KernelPair<'_>]) -> (f64, f64) {
    let all: f64 = rows.iter().map(KernelPair::time_ns).sum();
    let of = |is: fn(&KernelPair<'_>) -> bool| {
        rows.iter().filter(|row| is(row)).map(KernelPair::time_ns).sum::<f64>() / all.max(1.0)
    };
    (of(|row| row.base.is_some() && row.new.is_some()), of(|row| row.matched_by == super::matching::MatchedBy::Exact))
}

fn kernels_per_iteration(side: &Side) -> f64 {
    let counts: Vec<i64> = side.gpus().flat_map(|gpu| gpu.kernels_per_iteration.iter().copied()).collect();
    counts.iter().sum::<i64>() as f64 / counts.len().max(1) as f64
}

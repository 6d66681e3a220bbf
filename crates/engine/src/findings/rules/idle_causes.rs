//! Activity of the host while GPUs were idle, which titles name and advice follows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::findings::questions::{idle_calls, idle_functions, idle_ranges, idle_states};
use crate::findings::rule_context::{Observation, Rows, RuleContext};
use crate::findings::spans::gpu_of;
use wavesieve_model::analysis::gpu_time::idle_kinds::{IdleKind, IdleKinds};
use wavesieve_tables::derive::repeating::step_texts;

/// Name of the rows about time outside of recorded calls.
const NO_CALL: &str = "no call recorded";

/// Activity of the host during a part of the idle time of a cause.
struct Activity<'a> {
    name: &'a str,
    ns: i64,
    kind: Option<&'static IdleKind>,
}

/// Whether a row is of a rank of which counters were collected, which makes dispatches wait for one another.
pub(super) fn is_serialized(case: &RuleContext<'_>, rows: &Rows<'_>, row: usize) -> bool {
    rows.integer(row, "rank").is_some_and(|rank| case.collected.serialized_ranks.contains(&rank))
}

/// Whether a row is about a call that keeps its thread from launching.
pub(super) fn is_blocked(rows: &Rows<'_>, row: usize) -> bool {
    let kind = rows.text(row, "name").and_then(|name| IdleKinds::builtin().of_call(name));
    kind.is_some_and(|kind| kind.blocks)
}

/// Adds the activity that takes most of the idle time of a cause: by name if it reaches a share, and with the advice for its kind.
pub(super) fn with_host_activity(
    case: &RuleContext<'_>,
    cause: &str,
    total_ns: i64,
    observation: Observation,
) -> Observation {
    let rows = case.rows(idle_calls());
    // Gaps that are no idle time cannot be told from others here: the GPU that has such is left out.
    let counts =
        |row: usize| case.spans.broken_of(gpu_of(&rows, row), cause).1 == 0 && !is_serialized(case, &rows, row);
    let places = rows.matching(|rows, row| rows.text(row, "cause") == Some(cause) && counts(row));
    let places = rows.sorted_down(places, "idle_ns");
    let mut calls = sums(&rows, &places, "name");
    let no_call = calls.remove(NO_CALL).map(|ns| Activity { name: "no recorded call", ns, kind: None });
    let kinds = IdleKinds::builtin();
    let of_call = |(name, ns)| Activity { name, ns, kind: kinds.of_call(name) };
    let first = calls.into_iter().max_by_key(|(name, ns)| (*ns, Reverse(*name))).map(of_call);
    let is_named = |activity: &Activity<'_>| RuleContext::pct(activity.ns, total_ns) >= case.threshold("named_pct");
    let (functions, ranges, states) = (case.rows(idle_functions()), case.rows(idle_ranges()), case.rows(idle_states()));
    let inside = || inside(case, cause, &functions, &ranges, &is_named);
    let of_state = || of_state(case, cause, &states).filter(&is_named);
    // The idle time is the launch itself once it is a delay: whatever the thread does then follows from it.
    let has_launched = cause == "launch_delay";
    // Every wait is of a kind, also where none of them takes a large share.
    let of_wait = first.as_ref().filter(|_| cause == "sync").and_then(|first| first.kind);
    let call = first.as_ref().map(|first| first.name);
    // That no call launched the next work is what this cause says already.
    let no_call = no_call.filter(|_| cause != "no_record");
    let named = first.filter(&is_named).or_else(inside).or_else(of_state).or_else(|| no_call.filter(&is_named));
    let kind = named.as_ref().and_then(|named| named.kind).or(of_wait).filter(|_| !has_launched);
    let blocker = named.as_ref().filter(|named| !has_launched && named.kind.is_some_and(|kind| kind.blocks));
    let short = places.iter().copied().filter(|row| !is_blocked(&rows, *row));
    let columns = ["rank", "gpu", "cause", "name", "idle_ns", "short_ns", "cause_pct"];
    let mut observation = observation
        .value("blocker", blocker.map(|blocker| blocker.name))
        .value("blocker_noun", blocker.and_then(|blocker| blocker.kind).map(|kind| kind.noun.as_str()))
        .value("during", named.as_ref().map(|named| named.name))
        .value("during_ns", named.as_ref().map(|named| named.ns))
        .value("during_pct", named.as_ref().map(|named| RuleContext::pct(named.ns, total_ns)))
        .value("name", named.as_ref().map(|named| named.name).or(call))
        .value("short_pct", RuleContext::pct(rows.sum(short, "short_ns"), total_ns))
        .evidence(case.evidence(&rows, &places, &columns).filter(|_| call.is_some()));
    observation.advice.extend(kind.iter().flat_map(|kind| &kind.advice).map(String::as_str));
    observation
}

/// The function or range in which the host was for a large share, one of a known kind first.
fn inside<'a>(
    case: &RuleContext<'_>,
    cause: &str,
    functions: &Rows<'a>,
    ranges: &Rows<'a>,
    is_named: &dyn Fn(&Activity<'_>) -> bool,
) -> Option<Activity<'a>> {
    // These rows are of all GPUs together.
    if !case.collected.serialized_ranks.is_empty() || case.spans.broken_gpus().next().is_some() {
        return None;
    }
    let mut all = Vec::new();
    // All of a step lies in its range, whatever the host does.
    let is_step = step_texts().ok();
    let is_step = |name: &str| is_step.as_ref().is_some_and(|is_step| is_step(name));
    // So does nearly everything in a range that is around this part of the run, unless its kind says why.
    let around_ns = case.spans.longest_ns().unwrap_or_default() as f64 * case.threshold("around_pct") / 100.0;
    for (rows, column) in [(functions, "function_name"), (ranges, "range")] {
        let is_around = |row: usize| rows.number(row, "longest_ns").is_some_and(|ns| ns >= around_ns);
        let around: Vec<usize> = rows.matching(|_, row| is_around(row));
        let mut around: BTreeSet<&str> = around.into_iter().filter_map(|row| rows.text(row, column)).collect();
        around.retain(|name| IdleKinds::builtin().of_function(name).is_none());
        let is_outside =
            |rows: &Rows<'_>, row: usize| rows.text(row, column).is_some_and(|name| !around.contains(name));
        let places = rows.matching(|rows, row| rows.text(row, "cause") == Some(cause) && is_outside(rows, row));
        let found = sums(rows, &places, column).into_iter().filter(|(name, _)| !is_step(name));
        let found = found.map(|(name, ns)| Activity { name, ns, kind: IdleKinds::builtin().of_function(name) });
        let mut found: Vec<Activity<'a>> = found.filter(is_named).collect();
        found.sort_by_key(|activity| Reverse(activity.ns));
        all.extend(found);
    }
    all.sort_by_key(|activity| activity.kind.is_none());
    all.into_iter().next()
}

/// The state in which the thread was longest while it made no recorded call.
fn of_state<'a>(case: &RuleContext<'_>, cause: &str, rows: &Rows<'a>) -> Option<Activity<'a>> {
    // These rows are of all GPUs together.
    if !case.collected.serialized_ranks.is_empty() || case.spans.broken_gpus().next().is_some() {
        return None;
    }
    let is_outside =
        |rows: &Rows<'_>, row: usize| rows.text(row, "cause") == Some(cause) && rows.text(row, "name") == Some(NO_CALL);
    let places = rows.matching(is_outside);
    let known = sums(rows, &places, "thread_state").into_iter().filter_map(|(state, ns)| {
        let kind = IdleKinds::builtin().of_state(state)?;
        Some(Activity { name: kind.phrase.as_deref()?, ns, kind: Some(kind) })
    });
    known.max_by_key(|activity| (activity.ns, Reverse(activity.name)))
}

/// Idle time by name.
fn sums<'a>(rows: &Rows<'a>, places: &[usize], column: &str) -> BTreeMap<&'a str, i64> {
    let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
    for row in places {
        if let Some(name) = rows.text(*row, column) {
            let sum = sums.entry(name).or_default();
            *sum = sum.saturating_add(rows.integer(*row, "idle_ns").unwrap_or_default());
        }
    }
    sums
}

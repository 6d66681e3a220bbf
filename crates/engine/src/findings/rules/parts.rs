//! Parts of a run that do not repeat: set-up, pauses between iterations, and the tail after the last of them.

use std::collections::BTreeMap;

use crate::findings::questions::{health_of_ranks, kernels, run_parts};
use crate::findings::rule_context::{Observation, RuleContext};
use wavesieve_tables::trace::views::View;

/// The check that counts work whose launch was not recorded because recording began later.
const LAUNCHED_BEFORE: &str = "launched_before_recording";
const COLUMNS: [&str; 8] = ["rank", "part", "kind", "duration_ns", "pct", "iterations", "first_iteration", "pause_ns"];

/// Time of GPUs before the first iteration, or before the dense work. Work that was launched before recording began is named if it may
/// take a relevant share of the longest one.
pub fn set_up(case: &RuleContext<'_>) -> Observation {
    let observation = at_an_end(case, "set_up");
    let whole = |name: &str| observation.values.get(name).and_then(|value| i64::try_from(value.clone()).ok());
    let (rank, part_ns) = (whole("worst_rank"), whole("worst_ns").unwrap_or_default());
    let checks = case.rows(health_of_ranks());
    let is_before =
        |row: usize| checks.text(row, "check_id") == Some(LAUNCHED_BEFORE) && checks.integer(row, "rank") == rank;
    let before = checks.sum(checks.matching(|_, row| is_before(row)), "count");
    // Which work it is, is not in the answers: each takes as long as a dispatch on average.
    let work = case.rows(kernels());
    let (total_ns, calls) = (work.sum(work.places(), "total_ns"), work.sum(work.places(), "calls"));
    let before_ns = total_ns as f64 / calls.max(1) as f64 * before as f64;
    let is_relevant = before_ns * 100.0 >= case.threshold("min_before_pct") * part_ns as f64;
    observation.value("launched_before", if is_relevant { before } else { 0 })
}

/// Time of GPUs after the last iteration, or after the dense work.
pub fn tail(case: &RuleContext<'_>) -> Observation {
    at_an_end(case, "tail")
}

fn at_an_end(case: &RuleContext<'_>, kind: &str) -> Observation {
    let rows = case.rows(run_parts());
    let places = rows.matching(|rows, row| rows.text(row, "kind") == Some(kind));
    let unit = rows.places().find_map(|row| rows.text(row, "unit"));
    let duration_ns = |row: usize| rows.integer(row, "duration_ns").unwrap_or_default();
    observed(case, places, &duration_ns).value("unit", unit)
}

/// Time between iterations, in which something else happens.
pub fn pauses(case: &RuleContext<'_>) -> Observation {
    let rows = case.rows(run_parts());
    let pause_ns = |row: usize| match rows.text(row, "kind") {
        Some("pause") => rows.integer(row, "duration_ns").unwrap_or_default(),
        _ => rows.integer(row, "pause_ns").unwrap_or_default(),
    };
    let places = rows.matching(|_, row| pause_ns(row) > 0);
    observed(case, places, &pause_ns)
}

/// Cost of a part of the run, if the figures do not cover the whole run and it reaches a threshold. The time of a process counts once for
/// each of its GPUs.
fn observed(case: &RuleContext<'_>, places: Vec<usize>, time_ns: &dyn Fn(usize) -> i64) -> Observation {
    if case.headline == View::WholeRun {
        return Observation::default();
    }
    let rows = case.rows(run_parts());
    let sum = |rows: &mut dyn Iterator<Item = i64>| rows.fold(0, i64::saturating_add);
    let total_ns = sum(&mut places.iter().map(|row| time_ns(*row)));
    let pct = RuleContext::pct(total_ns, rows.sum(rows.places(), "duration_ns"));
    let mut of_rank: BTreeMap<Option<i64>, i64> = BTreeMap::new();
    for row in &places {
        let sum = of_rank.entry(rows.integer(*row, "rank")).or_default();
        *sum = sum.saturating_add(time_ns(*row));
    }
    let (worst_rank, worst_ns) = of_rank.into_iter().rev().max_by_key(|(_, ns)| *ns).unwrap_or_default();
    let mut shown = places;
    shown.sort_by_key(|row| (std::cmp::Reverse(time_ns(*row)), *row));
    case.observe(pct)
        .value("total_ns", total_ns)
        .value("worst_rank", worst_rank)
        .value("worst_ns", worst_ns)
        .value("ranks", rows.matching(|rows, row| rows.integer(row, "part") == Some(0)).len())
        .evidence(case.evidence(&rows, &shown, &COLUMNS))
}

//! The unit of work of a process, by the strongest evidence there is, and the layers in it. All tables and views about iterations ask this.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::columns::requests::Request;
use crate::derive::launching::launching_calls::{CALL_COLUMNS, MARK_COLUMNS};
use crate::derive::repeating::enclosing::{Enclosing, Evidence, UnitFacts};
use crate::derive::repeating::periods::{self, Iteration, Kernels};
use crate::derive::{Frames, Needs, needed};
use wavesieve_model::analysis::iterations::{LevelThresholds, Phase, phases, phases_without_prompts};

/// Word for units that only the sequence of kernels shows, and for that evidence.
const ITERATION: &str = "iteration";
const PERIOD: &str = "kernel_sequence";

/// The units of a process in order.
#[derive(Default)]
pub struct Units {
    pub all: Vec<Iteration>,
    /// Whether each is a prompt of an LLM server; empty if none is known to be.
    pub prompts: Vec<bool>,
    /// Repetitions within units, in order.
    pub layers: Vec<Iteration>,
    /// `step`, `replay` or `iteration`.
    pub unit: &'static str,
    /// Evidence for them: `range`, `server_marker`, `tokens`, `graph_replay` or `kernel_sequence`.
    pub found_by: &'static str,
}

/// The source columns that units are found in, kernels first.
pub fn needs() -> Needs {
    let mut all = Request::from([
        ("kernels", periods::COLUMNS.into_iter().collect::<BTreeSet<_>>()),
        ("memory_copies", ["copy_id", "gpu", "correlation_id", "start_ns", "end_ns", "valid"].into()),
        ("regions", CALL_COLUMNS.iter().copied().chain(["region_id", "category", "message"]).collect()),
        ("marks", MARK_COLUMNS.iter().copied().collect()),
    ]);
    if let Some(columns) = all.get_mut("kernels") {
        columns.extend(["correlation_id", "kernel_name", "workgroup_x", "graph_exec_id"]);
    }
    merged([all.into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect()])
}

/// Several needs as one, with each table once and kernels first.
pub fn merged(parts: impl IntoIterator<Item = Needs>) -> Needs {
    let mut all = Request::new();
    for (table, columns) in parts.into_iter().flatten() {
        all.entry(table).or_default().extend(columns);
    }
    let mut needs: Needs = all.into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect();
    needs.sort_by_key(|(table, _)| *table != "kernels");
    needs
}

impl Units {
    /// Finds the units of a process.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn find(tables: &Frames) -> Result<Self> {
        let order = tables.kernel_order()?;
        let kernels = Kernels::from_frame(needed(tables, "kernels")?, &order)?;
        let repetitions = kernels.repetitions();
        let facts = UnitFacts::builtin()?;
        let mut found = facts.enclosing(tables, &order)?;
        // A single step may be around several of an LLM server. Launches of graphs may be parts of any step.
        let is_several = |one: &Enclosing| one.evidence != Evidence::Replay && one.times_ns.len() > 1;
        found.sort_by_key(|one| !is_several(one));
        for enclosing in found {
            match relation(&facts, &enclosing, &repetitions) {
                Relation::None => {}
                Relation::Layers => return Ok(Self::of_enclosing(&kernels, enclosing, repetitions)),
                Relation::Units if !repetitions.is_empty() || kernels.are_in(&facts, &enclosing.times_ns) => {
                    return Ok(Self::of_enclosing(&kernels, enclosing, Vec::new()));
                }
                Relation::Units => {}
                // Ranges around a part of each repetition, such as the forward pass, do not say where it ends.
                Relation::Same
                    if is_one_each(&enclosing, &repetitions) && kernels.are_in(&facts, &enclosing.times_ns) =>
                {
                    return Ok(Self::of_enclosing(&kernels, enclosing, Vec::new()));
                }
                Relation::Same => return Ok(Self::of_repetitions(repetitions, enclosing.evidence.word())),
            }
        }
        Ok(Self::of_repetitions(repetitions, PERIOD))
    }

    fn of_repetitions(all: Vec<Iteration>, found_by: &'static str) -> Self {
        Self { all, unit: ITERATION, found_by, ..Self::default() }
    }

    fn of_enclosing(kernels: &Kernels, enclosing: Enclosing, mut layers: Vec<Iteration>) -> Self {
        let all = kernels.steps(&enclosing.times_ns);
        layers.retain(|layer| unit_at(&enclosing.times_ns, layer.start_ns).is_some());
        let (unit, found_by) = (enclosing.evidence.unit(), enclosing.evidence.word());
        Self { all, prompts: enclosing.prompts, layers, unit, found_by }
    }

    /// Duration of each.
    pub fn durations(&self) -> Vec<i64> {
        self.all.iter().map(Iteration::duration_ns).collect()
    }

    /// Phase of each.
    pub fn phases(&self) -> Vec<Phase> {
        if self.prompts.is_empty() {
            return phases(&self.durations());
        }
        let steps: Vec<(i64, bool)> = self.durations().into_iter().zip(self.prompts.iter().copied()).collect();
        phases_without_prompts(&steps)
    }

    /// The number of the level of durations that each steady unit is on; the others are on that of the unit before.
    ///
    /// # Errors
    /// When the thresholds of the binary are wrong, which the tests exclude.
    pub fn levels(&self, phases: &[Phase]) -> Result<Vec<i64>> {
        let is_steady = |phase: &Phase| *phase == Phase::Steady;
        let steady = self.all.iter().zip(phases).filter(|(_, phase)| is_steady(phase));
        let steady: Vec<i64> = steady.map(|(unit, _)| unit.duration_ns()).collect();
        let mut levels = LevelThresholds::builtin()?.levels(&steady).into_iter();
        let mut level = 0;
        let next = phases.iter().map(|phase| {
            level = if is_steady(phase) { levels.next().unwrap_or(level) } else { level };
            level
        });
        Ok(next.collect())
    }

    /// The unit that each layer is in, and its place there.
    pub(super) fn places_of_layers(&self) -> Vec<(i64, i64)> {
        let times_ns: Vec<(i64, i64)> = self.all.iter().map(|unit| (unit.start_ns, unit.end_ns)).collect();
        let (mut before, mut place) = (None, 0);
        let placed = self.layers.iter().map(|layer| {
            let unit = unit_at(&times_ns, layer.start_ns).unwrap_or_default() as i64;
            place = if before == Some(unit) { place + 1 } else { 0 };
            before = Some(unit);
            (unit, place)
        });
        placed.collect()
    }
}

/// How repetitions of the kernel sequence and enclosing units relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// Several repetitions lie in a unit.
    Layers,
    /// The enclosing units are the better evidence, and nothing repeats in them.
    Units,
    /// Each unit is a repetition.
    Same,
    /// The enclosing units say nothing about the repetitions.
    None,
}

fn relation(facts: &UnitFacts, enclosing: &Enclosing, repetitions: &[Iteration]) -> Relation {
    let is_replay = enclosing.evidence == Evidence::Replay;
    if repetitions.is_empty() {
        return if is_replay { Relation::None } else { Relation::Units };
    }
    let units: Vec<usize> = repetitions.iter().filter_map(|one| unit_at(&enclosing.times_ns, one.start_ns)).collect();
    if !facts.are_within(units.len(), repetitions.len()) {
        return Relation::None;
    }
    let with_any = units.iter().collect::<BTreeSet<_>>().len();
    if facts.are_layers(units.len(), with_any) {
        return Relation::Layers;
    }
    // A repetition may span several steps that ranges mark, or be one of several kinds.
    let spans = facts.are_layers(enclosing.times_ns.len(), repetitions.len());
    let is_marked = matches!(enclosing.evidence, Evidence::Range | Evidence::Server);
    if !enclosing.prompts.is_empty() || spans && is_marked { Relation::Units } else { Relation::Same }
}

/// Whether ranges or tokens show about as many steps as there are repetitions.
fn is_one_each(enclosing: &Enclosing, repetitions: &[Iteration]) -> bool {
    enclosing.evidence != Evidence::Replay && enclosing.times_ns.len() < 2 * repetitions.len()
}

/// The last unit that has started at a time, if it has not ended.
fn unit_at(times_ns: &[(i64, i64)], time_ns: i64) -> Option<usize> {
    let place = times_ns.partition_point(|(start_ns, _)| *start_ns <= time_ns).checked_sub(1)?;
    times_ns.get(place).filter(|(_, end_ns)| time_ns < *end_ns).map(|_| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of some length at each distance.
    fn times(count: i64, every_ns: i64, length_ns: i64) -> Vec<(i64, i64)> {
        (0..count).map(|place| (place * every_ns, place * every_ns + length_ns)).collect()
    }

    fn found(
        evidence: Evidence,
        times_ns: Vec<(i64, i64)>,
        prompts: &[bool],
        repetitions: Vec<(i64, i64)>,
    ) -> Relation {
        let repetition = |(start_ns, end_ns)| Iteration { start_ns, end_ns, kernels: 4, kernel_ns: 9, period: 4 };
        let repetitions: Vec<Iteration> = repetitions.into_iter().map(repetition).collect();
        relation(
            &UnitFacts::builtin().unwrap(),
            &Enclosing { evidence, times_ns, prompts: prompts.to_vec() },
            &repetitions,
        )
    }

    #[test]
    fn what_encloses_repetitions_decides() {
        use Evidence::{Range, Replay, Server, Tokens};
        let layers = times(120, 100, 100);
        for (evidence, units, prompts, repetitions, expected) in [
            (Server, times(1, 0, 12_000), &[][..], layers.clone(), Relation::Layers),
            (Range, times(10, 1_200, 1_150), &[], layers.clone(), Relation::Layers),
            (Replay, times(4, 3_000, 2_900), &[], layers.clone(), Relation::Layers),
            (Range, times(120, 100, 90), &[], layers.clone(), Relation::Same),
            (Replay, times(120, 100, 90), &[], layers.clone(), Relation::Same),
            // Each repetition spans four.
            (Range, times(480, 25, 25), &[], layers.clone(), Relation::Units),
            (Replay, times(480, 25, 25), &[], layers.clone(), Relation::Same),
            (Tokens, times(480, 25, 25), &[], layers.clone(), Relation::Same),
            // Only a few of them lie in units.
            (Range, times(3, 100, 90), &[], layers.clone(), Relation::None),
            (Tokens, times(3, 500, 400), &[true, false, false], times(3, 500, 400), Relation::Units),
            (Range, times(2, 500, 400), &[], Vec::new(), Relation::Units),
            (Replay, times(2, 500, 400), &[], Vec::new(), Relation::None),
        ] {
            let count = (units.len(), repetitions.len());
            assert_eq!(found(evidence, units, prompts, repetitions), expected, "{evidence:?} {count:?}");
        }
    }

    #[test]
    fn layers_are_numbered_within_their_unit() {
        let iteration = |(start_ns, end_ns)| Iteration { start_ns, end_ns, kernels: 1, kernel_ns: 1, period: 1 };
        let units = Units {
            all: times(3, 1_000, 900).into_iter().map(iteration).collect(),
            layers: times(9, 300, 200).into_iter().map(iteration).collect(),
            ..Units::default()
        };
        let places: Vec<(i64, i64)> = units.places_of_layers();
        assert_eq!(places, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]);
    }
}

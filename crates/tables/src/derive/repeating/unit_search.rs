//! Looks for the unit of work of a process: decides between repetitions of the sequence of kernels and what encloses them.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::derive::launching::kernel_order::KernelOrder;
use crate::derive::repeating::enclosing::{Enclosing, Evidence, UnitFacts};
use crate::derive::repeating::periods::{Iteration, Kernels, LaneRepetitions};
use crate::derive::repeating::unit_choice::UnitChoice;
use crate::derive::repeating::unit_layers::{self, UnitLayer, times_of};
use crate::derive::repeating::unit_passes::{backward_starts, with_passes};
use crate::derive::repeating::units::{Units, unit_at};
use crate::derive::repeating::unmarked::{copies_with_host, has_backward_pass, is_launched_in_one_go};
use crate::derive::{Frames, OnDemandTables, needed};

/// Word for units that only the sequence of kernels shows, and for that evidence.
const ITERATION: &str = "iteration";
pub(super) const PERIOD: &str = "kernel_sequence";
/// Word for repetitions of the sequence that may be parts of one pass.
pub(super) const REPETITION: &str = "repetition";
/// Words for units that the user chose.
pub(super) const RANGE: &str = "range";
pub(super) const LAYER: &str = "layer";

/// The kernels of a process and their repetitions, in which units are looked for.
pub(super) struct UnitSearch<'a> {
    tables: &'a Frames,
    order: KernelOrder,
    pub facts: UnitFacts,
    pub kernels: Kernels,
    repeated: Option<LaneRepetitions>,
    repetitions: Vec<Iteration>,
    more: Option<&'a dyn OnDemandTables>,
}

/// Units, before layers were looked for.
#[derive(Default)]
pub(super) struct Found {
    pub units: Units,
    /// Whether the repetitions of the whole sequence are their layers.
    pub has_layers: bool,
    /// Their layers, if these were looked for.
    layers: Option<Vec<UnitLayer>>,
}

impl<'a> UnitSearch<'a> {
    /// Reads the kernels, and finds their repetitions. Calls are read from `more` if units depend on them.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn new(tables: &'a Frames, more: Option<&'a dyn OnDemandTables>) -> Result<Self> {
        let order = tables.kernel_order()?;
        let kernels = Kernels::from_frame(needed(tables, "kernels")?, &order)?;
        let repeated = kernels.repetitions();
        let mut repetitions = repeated.as_ref().map(|found| kernels.iterations(found)).unwrap_or_default();
        // Kernels may run in another order than they are launched.
        repetitions.sort_by_key(|one| (one.start_ns, one.end_ns));
        Ok(Self { tables, order, facts: UnitFacts::builtin()?, kernels, repeated, repetitions, more })
    }

    /// The chosen units.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn find(&self, choice: &UnitChoice) -> Result<Found> {
        let steps = |found: Option<Enclosing>| found.map(|steps| self.chosen(steps)).unwrap_or_default();
        Ok(match choice {
            UnitChoice::Auto => self.named_by_evidence(self.strongest()?)?,
            UnitChoice::None => Found::default(),
            UnitChoice::Iteration => self.of_repetitions(PERIOD),
            UnitChoice::Step => steps(self.facts.steps(self.tables)?),
            UnitChoice::Replay => steps(self.facts.replays(self.tables, &self.order, true)?.map(Enclosing::tidy)),
            UnitChoice::Range(name) => {
                let mut found = steps(Some(self.facts.named(self.tables, name)?));
                (found.units.unit, found.units.name) = (RANGE, Some(name.clone()));
                found
            }
            UnitChoice::Layer => {
                Found { units: layers_as_units(&self.layers(&self.strongest()?)?), ..Found::default() }
            }
        })
    }

    /// The units that are found as [`Self::find`] does, with whether they may be different work.
    ///
    /// # Errors
    /// As for [`Self::find`].
    pub fn find_chosen(&self, choice: &UnitChoice) -> Result<Found> {
        let mut found = self.find(choice)?;
        found.units.is_mixed = match choice {
            _ if found.units.unit == REPETITION => true,
            UnitChoice::Auto | UnitChoice::None | UnitChoice::Step => false,
            UnitChoice::Layer => true,
            // Parts of prompts and of decodes look the same.
            UnitChoice::Replay | UnitChoice::Iteration | UnitChoice::Range(_) => self.facts.has_prompts(self.tables)?,
        };
        Ok(found)
    }

    /// The layers of units, with their passes.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn layers(&self, found: &Found) -> Result<Vec<UnitLayer>> {
        if let Some(layers) = &found.layers {
            return Ok(layers.clone());
        }
        let units = &found.units.all;
        let layers = match &self.repeated {
            _ if units.is_empty() || found.units.unit == LAYER => return Ok(Vec::new()),
            Some(repeated) if found.has_layers => unit_layers::repeated(&self.kernels, &self.facts, repeated, units),
            _ => unit_layers::within(&self.kernels, &self.facts, units),
        };
        // A single block is in one pass.
        let has_blocks = layers.first().is_some_and(|(first, _)| layers.iter().any(|(block, _)| block != first));
        let backward_ns = if has_blocks { self.backward_starts()? } else { Vec::new() };
        Ok(with_passes(layers, &backward_ns, &times_of(units), &self.facts))
    }

    fn backward_starts(&self) -> Result<Vec<i64>> {
        backward_starts(needed(self.tables, "kernels")?, &self.order, &self.facts)
    }

    /// Repetitions that only the sequence of kernels shows are iterations if they consist of layers or of both passes, if inputs or results
    /// are copied, or if the host waits between them. If it launches them without waiting, they may be the layers of one pass.
    fn named_by_evidence(&self, mut found: Found) -> Result<Found> {
        if found.units.found_by != PERIOD || found.units.all.is_empty() {
            return Ok(found);
        }
        let all = &found.units.all;
        if copies_with_host(self.tables.get("memory_copies"), all)? || has_backward_pass(&self.backward_starts()?, all)
        {
            return Ok(found);
        }
        let layers = self.layers(&found)?;
        if layers.is_empty() && is_launched_in_one_go(self.tables, self.more, all)? {
            found.units.unit = REPETITION;
        }
        found.layers = Some(layers);
        Ok(found)
    }

    /// The units with the strongest evidence.
    fn strongest(&self) -> Result<Found> {
        let mut found = self.facts.enclosing(self.tables, &self.order)?;
        // A single step may be around several of an LLM server. Launches of graphs may be parts of any step.
        let is_several = |one: &Enclosing| one.evidence != Evidence::Replay && one.times_ns.len() > 1;
        found.sort_by_key(|one| !is_several(one));
        let are_in = |times_ns: &[(i64, i64)]| {
            let (within, all) = self.kernels.within(times_ns);
            self.facts.are_within(within, all)
        };
        for enclosing in found {
            match relation(&self.facts, &enclosing, &self.repetitions) {
                Relation::None => {}
                Relation::Layers => return Ok(self.of_enclosing(enclosing, true)),
                Relation::Units if !self.repetitions.is_empty() || are_in(&enclosing.times_ns) => {
                    return Ok(self.of_enclosing(enclosing, false));
                }
                Relation::Units => {}
                // Ranges around a part of each repetition, such as the forward pass, do not say where it ends.
                Relation::Same if is_one_each(&enclosing, &self.repetitions) && are_in(&enclosing.times_ns) => {
                    return Ok(self.of_enclosing(enclosing, false));
                }
                Relation::Same => return Ok(self.of_repetitions(enclosing.evidence.word())),
            }
        }
        Ok(self.of_repetitions(PERIOD))
    }

    /// Units that the user chose, whatever repeats in them.
    fn chosen(&self, enclosing: Enclosing) -> Found {
        let has_layers = relation(&self.facts, &enclosing, &self.repetitions) == Relation::Layers;
        self.of_enclosing(enclosing, has_layers)
    }

    fn of_repetitions(&self, found_by: &'static str) -> Found {
        let all = self.repetitions.clone();
        Found { units: Units { all, unit: ITERATION, found_by, ..Units::default() }, ..Found::default() }
    }

    fn of_enclosing(&self, enclosing: Enclosing, has_layers: bool) -> Found {
        let all = self.kernels.steps(&enclosing.times_ns);
        let (unit, found_by) = (enclosing.evidence.unit(), enclosing.evidence.word());
        let units = Units { all, prompts: enclosing.prompts, unit, found_by, ..Units::default() };
        Found { units, has_layers, layers: None }
    }

    /// Units that are ranges with a name.
    pub fn of_ranges(&self, times_ns: Vec<(i64, i64)>, name: String) -> Units {
        let mut found = self.of_enclosing(Enclosing::of_ranges(times_ns), false).units;
        (found.unit, found.name) = (RANGE, Some(name));
        found
    }
}

/// Layers in place of the units that they are in.
pub(super) fn layers_as_units(layers: &[UnitLayer]) -> Units {
    let all = layers.iter().map(|layer| layer.own).collect();
    Units { all, unit: LAYER, found_by: PERIOD, ..Units::default() }
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
}

//! The unit of work of a process: the chosen one, or that with the strongest evidence. All tables and views about iterations ask this.

use anyhow::Result;
use polars::prelude::DataFrame;

use crate::columns::requests::Request;
use crate::derive::launching::launching_calls::{CALL_COLUMNS, MARK_COLUMNS};
use crate::derive::repeating::enclosing::is_there_evidence;
use crate::derive::repeating::periods::{self, Iteration};
use crate::derive::repeating::unit_choice::UnitChoice;
use crate::derive::repeating::unit_layers::UnitLayer;
use crate::derive::repeating::unit_passes::{Direction, Pass};
use crate::derive::repeating::unit_search::UnitSearch;
use crate::derive::{Frames, Needs, OnDemandTables};
use wavesieve_model::analysis::iterations::{LevelThresholds, Phase, phases, phases_without_prompts};

/// Derived tables whose rows depend on the unit of work.
pub(crate) const OF_UNITS: [&str; 8] = [
    "critical_path",
    "dispatch_features",
    "iteration_kernels",
    "iterations",
    "layers",
    "process_features",
    "run_parts",
    "units",
];

/// The units of a process in order.
#[derive(Default)]
pub struct Units {
    pub all: Vec<Iteration>,
    /// Whether each is a prompt of an LLM server; empty if none is known to be.
    pub prompts: Vec<bool>,
    /// Whether they may be different work, such as layers of several kinds, so that their durations show no slow ends and no jumps.
    pub is_mixed: bool,
    /// Repetitions within units, in order, if they were looked for.
    pub layers: Vec<UnitLayer>,
    /// `step`, `replay`, `iteration`, `repetition`, `layer` or `range`.
    pub unit: &'static str,
    /// Text of the ranges that were chosen.
    pub name: Option<String>,
    /// Evidence for them: `range`, `server_marker`, `tokens`, `graph_replay` or `kernel_sequence`.
    pub found_by: &'static str,
}

/// The source columns that units are found in, kernels first.
pub fn needs() -> Needs {
    merged([kernel_needs(), evidence_needs()])
}

/// The columns in which the sequence of kernels is found.
pub(super) fn kernel_needs() -> Needs {
    let others = ["correlation_id", "kernel_name", "workgroup_x", "graph_exec_id"];
    vec![("kernels", periods::COLUMNS.into_iter().chain(others).collect())]
}

/// The columns in which other evidence is found, if there is any.
pub(super) fn evidence_needs() -> Needs {
    vec![
        ("memory_copies", vec!["copy_id", "direction", "gpu", "correlation_id", "start_ns", "end_ns", "valid"]),
        ("regions", CALL_COLUMNS.iter().copied().chain(["region_id", "category", "message"]).collect()),
        ("marks", MARK_COLUMNS.to_vec()),
    ]
}

/// The tables with those that have other evidence than kernels, read only if there is such evidence.
///
/// # Errors
/// When a table cannot be read.
pub(super) fn with_evidence(tables: &Frames, more: &dyn OnDemandTables) -> Result<Option<Frames>> {
    let missing: Needs = evidence_needs().into_iter().filter(|(name, _)| tables.get(name).is_none()).collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let with = |needs: Needs| -> Result<Frames> {
        let read = needs.into_iter().map(|(name, columns)| Ok((name, more.rows(name, &columns, None)?.collect()?)));
        Ok(tables.with(read.collect::<Result<Vec<(&'static str, DataFrame)>>>()?))
    };
    let has_calls = tables.get("regions").is_some();
    let is_there = if has_calls {
        is_there_evidence(tables)?
    } else {
        is_there_evidence(&with(vec![("regions", vec!["domain"])])?)?
    };
    if is_there {
        return with(missing).map(Some);
    }
    // Calls without the other tables are no evidence.
    Ok(has_calls.then(|| tables.without("regions")))
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
    /// Finds the units of a process, without their layers.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn find(tables: &Frames) -> Result<Self> {
        match tables.unit() {
            UnitChoice::None => Ok(Self::default()),
            choice => Ok(UnitSearch::new(tables, None)?.find_chosen(choice)?.units),
        }
    }

    /// Duration of each.
    pub fn durations(&self) -> Vec<i64> {
        self.all.iter().map(Iteration::duration_ns).collect()
    }

    /// Sum of the durations of their kernels.
    pub(super) fn kernel_ns(&self) -> i64 {
        self.all.iter().fold(0, |sum, unit| sum.saturating_add(unit.kernel_ns))
    }

    /// Phase of each.
    pub fn phases(&self) -> Vec<Phase> {
        if self.is_mixed {
            return vec![Phase::Steady; self.all.len()];
        }
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
        if self.is_mixed {
            return Ok(vec![0; self.all.len()]);
        }
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

    /// Where each layer, or part of a layer, is.
    pub(super) fn places_of_layers(&self) -> Vec<LayerPlace> {
        let times_ns: Vec<(i64, i64)> = self.all.iter().map(|unit| (unit.start_ns, unit.end_ns)).collect();
        let (mut before, mut place, mut next, mut first) = (None, 0, 0, 0);
        let placed = self.layers.iter().map(|layer| {
            let unit = unit_at(&times_ns, layer.own.start_ns).unwrap_or_default() as i64;
            (place, next) = if before == Some(unit) { (place + 1, next) } else { (0, 0) };
            before = Some(unit);
            let own = match layer.pass {
                Some(Pass { direction: Direction::Backward, layer }) => first + layer,
                Some(Pass { direction: Direction::Forward, layer }) => {
                    first = if layer == 0 { next } else { first };
                    next = next.max(first + layer + 1);
                    first + layer
                }
                None => {
                    next += 1;
                    next - 1
                }
            };
            LayerPlace { unit, place, layer: own }
        });
        placed.collect()
    }
}

/// Where a layer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LayerPlace {
    /// Number of its unit.
    pub unit: i64,
    /// Ordinal of the part within the unit.
    pub place: i64,
    /// Ordinal of the layer within the unit: its forward and its backward part have the same.
    pub layer: i64,
}

/// The last unit that has started at a time, if it has not ended.
pub(super) fn unit_at(times_ns: &[(i64, i64)], time_ns: i64) -> Option<usize> {
    let place = times_ns.partition_point(|(start_ns, _)| *start_ns <= time_ns).checked_sub(1)?;
    times_ns.get(place).filter(|(_, end_ns)| time_ns < *end_ns).map(|_| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_work_has_no_warm_up_and_no_jump() {
        let iteration = |place: i64| {
            let duration_ns = if place < 2 { 900 } else { 100 };
            let (start_ns, end_ns) = (place * 1_000, place * 1_000 + duration_ns);
            Iteration { start_ns, end_ns, kernels: 1, kernel_ns: 1, period: 1 }
        };
        let phases = |is_mixed: bool| {
            let units = Units { all: (0..12).map(iteration).collect(), is_mixed, ..Units::default() };
            let phases = units.phases();
            assert!(!is_mixed || units.levels(&phases).unwrap() == [0; 12]);
            phases
        };
        assert_eq!(phases(false).first(), Some(&Phase::WarmUp));
        assert_eq!(phases(true), [Phase::Steady; 12]);
    }

    #[test]
    fn layers_are_numbered_within_their_unit() {
        let times = |count: i64, every_ns: i64| (0..count).map(move |place| (place * every_ns, place * every_ns + 200));
        let iteration = |(start_ns, end_ns)| Iteration { start_ns, end_ns, kernels: 1, kernel_ns: 1, period: 1 };
        let units = Units {
            all: times(3, 1_000).map(|(start_ns, _)| iteration((start_ns, start_ns + 900))).collect(),
            layers: times(9, 300).map(|time_ns| UnitLayer { kind: 0, own: iteration(time_ns), pass: None }).collect(),
            ..Units::default()
        };
        let places = |units: &Units| -> Vec<(i64, i64, i64)> {
            units.places_of_layers().iter().map(|place| (place.unit, place.place, place.layer)).collect()
        };
        let numbers = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)];
        assert_eq!(places(&units), numbers.map(|(unit, place)| (unit, place, place)));
        // Two layers forward and back, twice, and one of an unknown pass.
        let mut layers: Vec<UnitLayer> =
            times(9, 100).map(|time_ns| UnitLayer { kind: 0, own: iteration(time_ns), pass: None }).collect();
        for (part, (is_forward, layer)) in
            [(true, 0), (true, 1), (false, 1), (false, 0)].repeat(2).into_iter().enumerate()
        {
            let direction = if is_forward { Direction::Forward } else { Direction::Backward };
            layers[part].pass = Some(Pass { direction, layer });
        }
        let units = Units { all: vec![iteration((0, 900))], layers, ..Units::default() };
        let layers: Vec<i64> = places(&units).iter().map(|(.., layer)| *layer).collect();
        assert_eq!(layers, [0, 1, 1, 0, 2, 3, 3, 2, 4]);
    }
}

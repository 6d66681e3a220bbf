//! The layers of units of work: what repeats within each of them.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::derive::repeating::enclosing::UnitFacts;
use crate::derive::repeating::periods::{Iteration, Kernels, LaneRepetitions};
use crate::derive::repeating::unit_passes::Pass;
use crate::derive::repeating::units::unit_at;
use wavesieve_model::analysis::iterations::{Layer, layers_of, layers_within};
use wavesieve_model::analysis::thresholds::{LayerBounds, Thresholds};

fn bounds() -> &'static LayerBounds {
    &Thresholds::builtin().layers
}

/// A repetition within a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitLayer {
    /// Ordinal of its kind within the process; parts of one layer in both passes have one kind.
    pub kind: i64,
    pub own: Iteration,
    /// The pass that it is in, and the distance to its part in the other pass, if both are known.
    pub pass: Option<Pass>,
}

/// A layer with the block that it belongs to.
pub(super) type Placed = (u32, UnitLayer);

/// Layers within units that were found without them.
pub(super) fn within(kernels: &Kernels, facts: &UnitFacts, units: &[Iteration]) -> Vec<Placed> {
    let times_ns = times_of(units);
    let mut best: (usize, Vec<Placed>) = (0, Vec::new());
    let mut tried: Vec<u32> = Vec::new();
    for lane in kernels.lanes() {
        let (rows, ranges) = rows_in(kernels, &lane.rows, &times_ns);
        let symbols = if lane.by_shape { &kernels.shape } else { &kernels.name };
        let sequence = symbols_of(&symbols.of_rows, &rows);
        // If every kernel has only one grid, names are numbered as shapes are, and carry no more information.
        if sequence.is_empty() || sequence == tried {
            continue;
        }
        let found = layers_within(&ranges, &sequence, &symbols_of(&kernels.name.of_rows, &rows));
        let covered: usize = found.iter().map(|layer| layer.range.len()).sum();
        if covered > best.0 {
            best = (covered, placed(kernels, &rows, &found, &times_ns));
        }
        if covered as f64 >= bounds().enough_of_lane * rows.len() as f64 {
            break;
        }
        tried = sequence;
    }
    large(facts, best.1, units)
}

/// Layers that are repetitions of the whole sequence, several in each unit, or consist of several kinds of layers.
pub(super) fn repeated(
    kernels: &Kernels,
    facts: &UnitFacts,
    found: &LaneRepetitions,
    units: &[Iteration],
) -> Vec<Placed> {
    let times_ns = times_of(units);
    let layers = layers_of(&found.repetitions.ranges, &symbols_of(&kernels.name.of_rows, &found.rows));
    large(facts, placed(kernels, &found.rows, &layers, &times_ns), units)
}

/// Start and end of units, in order.
pub(super) fn times_of(units: &[Iteration]) -> Vec<(i64, i64)> {
    let mut times_ns: Vec<(i64, i64)> = units.iter().map(|unit| (unit.start_ns, unit.end_ns)).collect();
    times_ns.sort_unstable();
    times_ns
}

/// The rows of a lane that start in a unit, unit by unit, with their positions.
fn rows_in(kernels: &Kernels, lane: &[u32], times_ns: &[(i64, i64)]) -> (Vec<u32>, Vec<Range<u32>>) {
    let mut by_unit: Vec<Vec<u32>> = vec![Vec::new(); times_ns.len()];
    for row in lane {
        let unit = kernels.start_ns.get(*row as usize).and_then(|start_ns| unit_at(times_ns, *start_ns));
        if let Some(rows) = unit.and_then(|unit| by_unit.get_mut(unit)) {
            rows.push(*row);
        }
    }
    let mut end = 0;
    let range = |rows: &Vec<u32>| {
        let start = end;
        end += rows.len() as u32;
        start..end
    };
    let ranges = by_unit.iter().map(range).collect();
    (by_unit.concat(), ranges)
}

fn symbols_of(symbols: &[u32], rows: &[u32]) -> Vec<u32> {
    rows.iter().filter_map(|row| symbols.get(*row as usize).copied()).collect()
}

/// Layers with their times, in the order of their starts. Each lasts until the next one of its unit starts, if that follows at once,
/// and never beyond the start of another layer or the end of its unit: kernels may run in another order than they are launched.
fn placed(kernels: &Kernels, rows: &[u32], layers: &[Layer], times_ns: &[(i64, i64)]) -> Vec<Placed> {
    let mut lengths: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for layer in layers {
        lengths.entry(layer.kind).or_default().push(layer.range.len());
    }
    lengths.values_mut().for_each(|lengths| lengths.sort_unstable());
    let usual = |kind: u32| lengths.get(&kind).and_then(|lengths| lengths.get(lengths.len() / 2)).copied();
    let extent = |(place, layer): (usize, &Layer)| {
        let start_ns = kernels.first_start(rows, &layer.range)?;
        let unit = unit_at(times_ns, start_ns)?;
        let (_, unit_end_ns) = times_ns.get(unit)?;
        let next = layers.get(place + 1).filter(|next| next.range.start == layer.range.end);
        let next_ns = next.and_then(|next| kernels.first_start(rows, &next.range));
        let next_ns = next_ns.filter(|next_ns| *next_ns > start_ns && unit_at(times_ns, *next_ns) == Some(unit));
        let end_ns = next_ns.or_else(|| kernels.end_of(rows, &layer.range))?;
        Some((start_ns, end_ns.min(*unit_end_ns), place))
    };
    let mut extents: Vec<(i64, i64, usize)> = layers.iter().enumerate().filter_map(extent).collect();
    extents.sort_unstable();
    let starts: Vec<i64> = extents.iter().map(|(start_ns, ..)| *start_ns).collect();
    let timed = |(order, (start_ns, end_ns, place)): (usize, (i64, i64, usize))| {
        let layer = layers.get(place)?;
        let end_ns = starts.get(order + 1).map_or(end_ns, |next_ns| end_ns.min(*next_ns));
        let own = kernels.iteration(start_ns, end_ns, usual(layer.kind).unwrap_or_default() as i64);
        (start_ns < end_ns).then(|| (layer.block, UnitLayer { kind: i64::from(layer.kind), own, pass: None }))
    };
    extents.into_iter().enumerate().filter_map(timed).collect()
}

/// The layers of blocks with enough of the time, in order of time.
fn large(facts: &UnitFacts, layers: Vec<Placed>, units: &[Iteration]) -> Vec<Placed> {
    let sum = |times: &mut dyn Iterator<Item = i64>| times.fold(0, i64::saturating_add);
    let all_ns = sum(&mut units.iter().map(|unit| unit.kernel_ns));
    let mut of_block: BTreeMap<u32, i64> = BTreeMap::new();
    for (block, layer) in &layers {
        let sum = of_block.entry(*block).or_default();
        *sum = sum.saturating_add(layer.own.kernel_ns);
    }
    let is_large = |block: &u32| facts.are_parts(of_block.get(block).copied().unwrap_or_default(), all_ns);
    let mut kept: Vec<Placed> = layers.into_iter().filter(|(block, _)| is_large(block)).collect();
    kept.sort_by_key(|(_, layer)| (layer.own.start_ns, layer.own.end_ns));
    number_kinds(&mut kept);
    kept
}

/// Numbers the kinds that are left.
pub(super) fn number_kinds(layers: &mut [Placed]) {
    let mut kinds: Vec<i64> = layers.iter().map(|(_, layer)| layer.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for (_, layer) in layers {
        layer.kind = kinds.partition_point(|kind| *kind < layer.kind) as i64;
    }
}

//! Repetitions within units of work: layers, of one kind or of several kinds that take turns.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::analysis::iterations::alike::{commonest, likeness};
use crate::analysis::iterations::anchors::tolerance;
use crate::analysis::iterations::detect::{Repetitions, repetitions};
use crate::analysis::thresholds::{LayerBounds, Thresholds};

fn bounds() -> &'static LayerBounds {
    &Thresholds::builtin().layers
}

/// A layer in a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its positions.
    pub range: Range<u32>,
    /// Ordinal of its kind, in order of appearance in a usual unit.
    pub kind: u32,
    /// Ordinal of the block of such layers in a usual unit, such as forward and backward pass.
    pub block: u32,
}

/// The look of the layers of a block.
struct LayerBlock {
    period: u32,
    /// A usual repetition by name.
    usual: Vec<u32>,
    /// Where each further layer of a repetition starts, if it has several.
    cut: Option<Cut>,
    /// A usual layer of each kind by name, with the number of the kind.
    kinds: Vec<(u32, Vec<u32>)>,
}

/// A symbol, or two neighbors.
type Mark = (u32, Option<u32>);

/// A mark that occurs once in each layer of a repetition.
struct Cut {
    mark: Mark,
    times: usize,
    /// Its distance from the start of the first of them.
    offset: u32,
}

/// The layers in known repetitions of a sequence, which are layers or consist of several kinds of layers.
pub fn layers_of(ranges: &[Range<u32>], names: &[u32]) -> Vec<Layer> {
    let Some(block) = LayerBlock::new(ranges, names, &mut 0) else { return Vec::new() };
    ranges.iter().flat_map(|range| block.layers(range, names, 0)).collect()
}

/// The layers within each unit of a sequence, in order. `units` are their positions. `sequence` has the symbols that
/// repeat, and `names` the symbols by which kinds that take turns are alike.
///
/// A unit may have several blocks of layers, such as its forward and its backward pass. Layers are found in the
/// commonest unit, and in others if their period is about the same.
pub fn layers_within(units: &[Range<u32>], sequence: &[u32], names: &[u32]) -> Vec<Layer> {
    let piece = |of: &[u32], range: &Range<u32>| -> Vec<u32> {
        of.get(range.start as usize..range.end as usize).unwrap_or_default().to_vec()
    };
    let pieces: Vec<Vec<u32>> = units.iter().map(|unit| piece(sequence, unit)).collect();
    let slices: Vec<&[u32]> = pieces.iter().map(Vec::as_slice).collect();
    let usual = commonest(&slices);
    let (Some(unit), Some(own)) = (units.get(usual), slices.get(usual)) else { return Vec::new() };
    let found = blocks(own);
    if found.is_empty() {
        return Vec::new();
    }
    let mut kinds = 0;
    let own_names = piece(names, unit);
    let looks: Vec<Option<LayerBlock>> =
        found.iter().map(|found| LayerBlock::new(&found.ranges, &own_names, &mut kinds)).collect();
    let mut known: BTreeMap<&[u32], Vec<Repetitions>> = BTreeMap::from([(*own, found)]);
    let mut layers = Vec::new();
    for (unit, own) in units.iter().zip(&slices) {
        let own_names = piece(names, unit);
        let is_usual = slices.get(usual) == Some(own);
        let found = known.entry(own).or_insert_with(|| blocks(own));
        for (place, found) in (0_usize..).zip(found.iter()) {
            let own_look = || Some((place, looks.get(place)?.as_ref()?));
            let look = if is_usual { own_look() } else { most_alike(&looks, found, &own_names) };
            let Some((place, look)) = look else { continue };
            let place = place as u32;
            let of_unit = found.ranges.iter().flat_map(|range| look.layers(range, &own_names, place));
            layers.extend(
                of_unit.map(|layer| Layer {
                    range: unit.start + layer.range.start..unit.start + layer.range.end,
                    ..layer
                }),
            );
        }
    }
    layers
}

/// The look with about the period of some repetitions that is most like a usual one of them; the first of equals.
fn most_alike<'a>(
    looks: &'a [Option<LayerBlock>],
    found: &Repetitions,
    names: &[u32],
) -> Option<(usize, &'a LayerBlock)> {
    let piece = |range: &Range<u32>| names.get(range.start as usize..range.end as usize);
    let pieces: Vec<&[u32]> = found.ranges.iter().filter_map(piece).collect();
    let own = *pieces.get(commonest(&pieces))?;
    let fitting = looks.iter().enumerate().filter_map(|(place, look)| {
        let look = look.as_ref().filter(|look| look.fits(found.period))?;
        Some((likeness(own, &look.usual), place, look))
    });
    let nearest = fitting.reduce(|best, other| if other.0 > best.0 { other } else { best });
    nearest.map(|(_, place, look)| (place, look))
}

/// The repetitions of a unit, and those before and after them, in order.
fn blocks(unit: &[u32]) -> Vec<Repetitions> {
    let mut open: Vec<Range<usize>> = std::iter::once(0..unit.len()).collect();
    let mut found: Vec<Repetitions> = Vec::new();
    while let Some(range) = open.pop() {
        let Some(part) = unit.get(range.clone()) else { continue };
        let Some(mut one) = repetitions(&dense(part)).filter(|one| one.period >= bounds().min_layer) else { continue };
        for own in &mut one.ranges {
            *own = own.start + range.start as u32..own.end + range.start as u32;
        }
        if let (Some(first), Some(last)) = (one.ranges.first(), one.ranges.last()) {
            open.extend([range.start..first.start as usize, last.end as usize..range.end]);
        }
        found.push(one);
    }
    found.sort_by_key(|one| one.ranges.first().map(|range| range.start));
    found
}

/// The sequence with symbols numbered in order of appearance.
fn dense(sequence: &[u32]) -> Vec<u32> {
    let mut known: BTreeMap<u32, u32> = BTreeMap::new();
    let number = |symbol: &u32| {
        let next = known.len() as u32;
        *known.entry(*symbol).or_insert(next)
    };
    sequence.iter().map(number).collect()
}

impl LayerBlock {
    /// The look of the repetitions of a block; `kinds` are known so far.
    fn new(ranges: &[Range<u32>], names: &[u32], kinds: &mut u32) -> Option<Self> {
        let piece = |range: &Range<u32>| names.get(range.start as usize..range.end as usize);
        let pieces: Vec<&[u32]> = ranges.iter().filter_map(piece).collect();
        let usual = *pieces.get(commonest(&pieces))?;
        let (period, cut) = (usual.len() as u32, Cut::new(usual));
        let mut block = Self { period, usual: usual.to_vec(), cut, kinds: Vec::new() };
        for range in block.cuts(&(0..block.period), usual) {
            let own = usual.get(range.start as usize..range.end as usize)?;
            if !block.kinds.iter().any(|(_, other)| likeness(own, other) >= bounds().same) {
                block.kinds.push((*kinds, own.to_vec()));
                *kinds += 1;
            }
        }
        Some(block)
    }

    /// Whether repetitions of this period are of it.
    fn fits(&self, period: u32) -> bool {
        period.abs_diff(self.period) <= tolerance(self.period)
    }

    /// The layers of a repetition.
    fn layers(&self, range: &Range<u32>, names: &[u32], block: u32) -> Vec<Layer> {
        let layer = |range: Range<u32>| {
            let own = names.get(range.start as usize..range.end as usize).unwrap_or_default();
            let likenesses = self.kinds.iter().map(|(kind, usual)| (likeness(own, usual), *kind));
            // The first of equals.
            let nearest = likenesses.reduce(|best, other| if other.0 > best.0 { other } else { best });
            Layer { range, kind: nearest.map_or(0, |(_, kind)| kind), block }
        };
        self.cuts(range, names).into_iter().map(layer).collect()
    }

    /// The positions of the layers of a repetition.
    fn cuts(&self, range: &Range<u32>, names: &[u32]) -> Vec<Range<u32>> {
        let whole = vec![range.clone()];
        let Some(cut) = &self.cut else { return whole };
        let own = names.get(range.start as usize..range.end as usize).unwrap_or_default();
        let (first, second) = cut.mark;
        let is_at = |(place, name): &(u32, &u32)| {
            **name == first && second.is_none_or(|second| own.get(*place as usize + 1) == Some(&second))
        };
        let places: Vec<u32> = (0_u32..).zip(own).filter(is_at).map(|(place, _)| range.start + place).collect();
        if places.len() != cut.times {
            return whole;
        }
        let later = places.iter().skip(1).map(|place| place.saturating_sub(cut.offset).max(range.start + 1));
        let starts: Vec<u32> = std::iter::once(range.start).chain(later).collect();
        let ends = starts.iter().skip(1).copied().chain([range.end]);
        starts.iter().zip(ends).map(|(start, end)| *start..end).collect()
    }
}

impl Cut {
    /// Cuts a repetition into as many layers as possible that are alike.
    fn new(usual: &[u32]) -> Option<Self> {
        let length = usual.len() as u32;
        let mut places: BTreeMap<Mark, Vec<u32>> = BTreeMap::new();
        for (place, symbol) in (0_u32..).zip(usual) {
            places.entry((*symbol, None)).or_default().push(place);
            if let Some(next) = usual.get(place as usize + 1) {
                places.entry((*symbol, Some(*next))).or_default().push(place);
            }
        }
        let is_even = |places: &Vec<u32>| {
            let usual = length / places.len() as u32;
            let first = places.first().copied().unwrap_or_default();
            let next = places.iter().skip(1).copied().chain([first + length]);
            usual >= bounds().min_kind
                && places.iter().zip(next).all(|(one, next)| (next - one).abs_diff(usual) <= tolerance(usual))
        };
        let mut candidates: Vec<(Mark, Vec<u32>)> = places
            .into_iter()
            .filter(|(_, places)| (2..=bounds().max_turn).contains(&places.len()) && is_even(places))
            .collect();
        // The nearest to the start moves the fewest symbols to another layer.
        candidates.sort_by_key(|(_, places)| (std::cmp::Reverse(places.len()), places.first().copied()));
        let cut = |(mark, places): (Mark, Vec<u32>)| {
            let cut = Self { mark, times: places.len(), offset: *places.first()? };
            let block = LayerBlock { period: length, usual: Vec::new(), cut: Some(cut), kinds: Vec::new() };
            let pieces = block.cuts(&(0..length), usual);
            let piece = |range: &Range<u32>| usual.get(range.start as usize..range.end as usize);
            let pieces: Vec<&[u32]> = pieces.iter().filter_map(piece).collect();
            let own = *pieces.get(commonest(&pieces))?;
            if pieces.iter().all(|other| likeness(own, other) >= bounds().min_alike) { block.cut } else { None }
        };
        candidates.into_iter().find_map(cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths_and_kinds(layers: &[Layer]) -> Vec<(u32, u32, u32)> {
        layers.iter().map(|layer| (layer.range.end - layer.range.start, layer.kind, layer.block)).collect()
    }

    fn units(lengths: &[usize]) -> Vec<Range<u32>> {
        let mut start = 0;
        let unit = |length: &usize| {
            let from = start;
            start += *length as u32;
            from..start
        };
        lengths.iter().map(unit).collect()
    }

    #[test]
    fn both_passes_of_every_step_have_layers() {
        let forward: Vec<u32> = (10..20).collect();
        let backward: Vec<u32> = (30..45).collect();
        let step = [vec![1, 2], forward.repeat(6), vec![3], backward.repeat(6), vec![4, 5, 6]].concat();
        let sequence = step.repeat(5);
        let found = layers_within(&units(&[step.len(); 5]), &sequence, &sequence);
        let expected = [vec![(10, 0, 0); 6], vec![(15, 1, 1); 6]].concat().repeat(5);
        assert_eq!(lengths_and_kinds(&found), expected);
        assert_eq!(found.first().map(|layer| layer.range.clone()), Some(2..12));
        // A step with another kernel in it has the same layers.
        let odd = [&step[..25], &[99], &step[25..]].concat();
        let sequence = [step.clone(), odd.clone(), step.clone()].concat();
        let found = layers_within(&units(&[step.len(), odd.len(), step.len()]), &sequence, &sequence);
        assert_eq!(found.len(), 36);
    }

    #[test]
    fn blocks_of_similar_length_are_different() {
        let forward: Vec<u32> = (10..30).collect();
        let backward: Vec<u32> = (40..64).collect();
        let step = [vec![1, 2], forward.repeat(6), vec![3], backward.repeat(6), vec![4, 5, 6]].concat();
        let odd = [&step[..33], &[99], &step[33..]].concat();
        let sequence = [step.clone(), odd.clone(), step.clone()].concat();
        let found = layers_within(&units(&[step.len(), odd.len(), step.len()]), &sequence, &sequence);
        let kinds: Vec<(u32, u32)> = found.iter().map(|layer| (layer.kind, layer.block)).collect();
        assert_eq!(kinds, [vec![(0, 0); 6], vec![(1, 1); 6]].concat().repeat(3));
    }

    #[test]
    fn kinds_that_take_turns_are_layers_of_their_own() {
        let one: Vec<u32> = (0..17).collect();
        let other: Vec<u32> = (0..6).chain([17, 18]).chain(7..17).collect();
        let turns = [one.clone(), other.clone()].concat();
        let pass = [vec![30, 31], turns.repeat(12), vec![32]].concat();
        let found = layers_within(&units(&[pass.len()]), &pass, &pass);
        assert_eq!(lengths_and_kinds(&found), [(17, 0, 0), (18, 1, 0)].repeat(12));
        // Every kernel at the start comes more than once in a layer; the second kind differs before the others.
        let short: Vec<u32> = vec![1, 2, 3, 4, 5, 6, 7, 8, 1, 9, 3, 10, 2];
        let long: Vec<u32> = vec![1, 2, 3, 11, 12, 5, 6, 7, 8, 1, 9, 3, 10, 2];
        let pass = [short, long].concat().repeat(6);
        let found = layers_within(&units(&[pass.len()]), &pass, &pass);
        assert_eq!(lengths_and_kinds(&found), [(13, 0, 0), (14, 1, 0)].repeat(6));
        // One of six is of another kind.
        let six = [one.repeat(5), other].concat();
        let ranges = units(&[six.len(); 4]);
        let found = layers_of(&ranges, &six.repeat(4));
        assert_eq!(lengths_and_kinds(&found), [vec![(17, 0, 0); 5], vec![(18, 1, 0)]].concat().repeat(4));
    }

    #[test]
    fn halves_of_a_layer_are_no_layers() {
        // Norm, product, attention, product, sum; norm, product, activation, product, sum.
        let layer = [0, 1, 2, 1, 3, 0, 1, 4, 1, 3];
        let pass = layer.repeat(8);
        let found = layers_within(&units(&[pass.len()]), &pass, &pass);
        assert!(found.iter().all(|layer| layer.range.len() == 10 && layer.kind == 0), "{found:?}");
        // A loop over parameters.
        let pass = [7, 8, 9].repeat(40);
        assert_eq!(layers_within(&units(&[pass.len()]), &pass, &pass), []);
        assert_eq!(layers_within(&[], &[], &[]), []);
    }
}

//! Symbols that occur at equal distances, once per repetition.

use crate::analysis::iterations::occurrences::Occurrences;
use crate::analysis::thresholds::{RepetitionBounds, Thresholds};

fn bounds() -> &'static RepetitionBounds {
    &Thresholds::builtin().repetitions
}

/// Distances of up to this many periods count neither against an anchor nor for it.
const MAX_MISSING: u32 = 3;

/// A symbol that may mark repetitions, in the interval where it is regular.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub symbol: u32,
    /// Usual distance between its occurrences.
    pub period: u32,
    /// Distances that are about the usual one.
    pub regular: usize,
    /// First of its occurrences in the interval, and the one after the last.
    pub first: usize,
    /// One after the last.
    pub end: usize,
    /// Position of the first.
    pub start: u32,
}

/// Maximum deviation of a regular distance from a period. Periods below 4 occur easily by accident, so they have none.
pub fn tolerance(period: u32) -> u32 {
    period / 4
}

/// The symbols that are regular over enough of the sequence.
pub fn anchors(occurrences: &Occurrences) -> Vec<Anchor> {
    let mut distances = Vec::new();
    let length = occurrences.sequence().len();
    let symbols = occurrences.symbols().map(|symbol| (symbol, occurrences.of_symbol(symbol)));
    let often = symbols.take_while(|(_, positions)| positions.len() >= bounds().min_repetitions);
    often.filter_map(|(symbol, positions)| anchor(symbol, positions, length, &mut distances)).collect()
}

/// The anchor of a symbol, if it has one; `distances` is overwritten.
fn anchor(symbol: u32, positions: &[u32], length: usize, distances: &mut Vec<u32>) -> Option<Anchor> {
    let is_much = |covered: f64| covered >= bounds().min_covered * length as f64;
    let extent = f64::from(positions.last()? - positions.first()?);
    // No distance is longer than all of them together.
    if !is_much(2.0 * extent) {
        return None;
    }
    let each_distance = || positions.iter().zip(positions.iter().skip(1)).map(|(from, to)| to - from);
    distances.clear();
    distances.extend(each_distance());
    let middle = (distances.len() - 1) / 2;
    let period = *distances.select_nth_unstable(middle).1;
    if period < 2 || !is_much(extent + f64::from(period)) {
        return None;
    }
    let usual = DistanceRules::new(period);
    // The interval with the largest surplus of regular distances.
    let (mut best, mut best_sum) = (0..0, 0_i64);
    let (mut from, mut sum) = (0, 0_i64);
    for (place, distance) in each_distance().enumerate() {
        sum = (sum + usual.gain(distance)).max(0);
        from = if sum == 0 { place + 1 } else { from };
        if sum > best_sum {
            (best, best_sum) = (from..place + 1, sum);
        }
    }
    let start = *positions.get(best.start)?;
    let last = *positions.get(best.end)?;
    if best.len() + 1 < bounds().min_repetitions || !is_much(f64::from(last - start) + f64::from(period)) {
        return None;
    }
    let within = each_distance().skip(best.start).take(best.len());
    let regular = within.filter(|distance| usual.is_regular(*distance)).count();
    Some(Anchor { symbol, period, regular, first: best.start, end: best.end + 1, start })
}

/// Distances that are regular, and the smallest and largest distance of a symbol that is missing here and there.
struct DistanceRules {
    regular: [u32; 2],
    missing: [[u32; 2]; (MAX_MISSING - 1) as usize],
}

impl DistanceRules {
    fn new(period: u32) -> Self {
        let (wide, off) = (u64::from(period), u64::from(tolerance(period)));
        let bound = |distance: u64| u32::try_from(distance).unwrap_or(u32::MAX);
        // Distances that are nearer to this many periods than to another number of them, and not too far off.
        let about = |times: u64| {
            let nearest = ((2 * times - 1) * wide).div_ceil(2)..((2 * times + 1) * wide).div_ceil(2);
            let (least, most) = (times * (wide - off), times * (wide + off));
            [bound(least.max(nearest.start)), bound(most.min(nearest.end - 1))]
        };
        Self { regular: about(1), missing: std::array::from_fn(|place| about(place as u64 + 2)) }
    }

    fn is_regular(&self, distance: u32) -> bool {
        is_between(self.regular, distance)
    }

    /// How much a distance supports the period, or contradicts it. It has no branches: it runs for every distance, and
    /// each is hard to predict from the one before.
    fn gain(&self, distance: u32) -> i64 {
        let is_regular = self.is_regular(distance);
        let is_any = self.missing.iter().fold(is_regular, |any, missing| any | is_between(*missing, distance));
        i64::from(is_regular) - bounds().irregular_costs * i64::from(!is_any)
    }
}

fn is_between([least, most]: [u32; 2], distance: u32) -> bool {
    (least <= distance) & (distance <= most)
}

/// Anchors in groups of about the same period, shortest first.
pub(crate) fn by_period(mut anchors: Vec<Anchor>) -> Vec<Vec<Anchor>> {
    anchors.sort_by_key(|anchor| (anchor.period, anchor.start));
    let mut groups: Vec<Vec<Anchor>> = Vec::new();
    for anchor in anchors {
        let same = |group: &Vec<Anchor>| {
            group.first().is_some_and(|first| {
                f64::from(anchor.period) <= f64::from(first.period) * (1.0 + bounds().same_period) + 0.5
            })
        };
        match groups.last_mut().filter(|group| same(group)) {
            Some(group) => group.push(anchor),
            None => groups.push(vec![anchor]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_as_the_number_of_periods_that_they_are_nearest_to() {
        for period in 2..70_u32 {
            for distance in 0..5 * period {
                let times = (f64::from(distance) / f64::from(period)).round() as u32;
                let gain = match times {
                    _ if distance.abs_diff(period) <= tolerance(period) => 1,
                    2..=MAX_MISSING if distance.abs_diff(times * period) <= times * tolerance(period) => 0,
                    _ => -bounds().irregular_costs,
                };
                assert_eq!(DistanceRules::new(period).gain(distance), gain, "{distance} with {period}");
            }
        }
    }
}

//! Symbols that occur at equal distances, once per repetition.

use super::occurrences::Occurrences;

/// Occurrences that make a repetition worth the name.
pub const LEAST_REPETITIONS: usize = 3;
/// Share of the sequence that repetitions must cover.
const LEAST_COVERED: f64 = 0.3;
/// Periods that differ by less than this share are taken for one.
const SAME_PERIOD: f64 = 0.05;
/// Distances of so many periods are not held against an anchor, nor for it.
const MOST_MISSING: u32 = 3;
/// What an irregular distance costs, where a regular one gains 1.
const IRREGULAR: i64 = 2;

/// A symbol that may mark repetitions, in the stretch where it is regular.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Symbol.
    pub symbol: u32,
    /// Usual distance between its occurrences.
    pub period: u32,
    /// Distances that are about the usual one.
    pub regular: usize,
    /// First of its occurrences in the stretch, and the one after the last.
    pub first: usize,
    /// One after the last.
    pub end: usize,
    /// Position of the first.
    pub start: u32,
}

/// How far a distance may be from a period and still be regular; of periods below 4, which accident makes easily, not at all.
pub fn tolerance(period: u32) -> u32 {
    period / 4
}

/// The symbols that are regular over enough of the sequence.
pub fn anchors(occurrences: &Occurrences, length: usize) -> Vec<Anchor> {
    occurrences.symbols().filter_map(|symbol| anchor(symbol, occurrences.of_symbol(symbol), length)).collect()
}

fn anchor(symbol: u32, positions: &[u32], length: usize) -> Option<Anchor> {
    if positions.len() < LEAST_REPETITIONS {
        return None;
    }
    let distances = || positions.iter().zip(positions.iter().skip(1)).map(|(from, to)| to - from);
    let mut sorted: Vec<u32> = distances().collect();
    let middle = (sorted.len() - 1) / 2;
    let period = *sorted.select_nth_unstable(middle).1;
    let is_regular = |distance: u32| distance.abs_diff(period) <= tolerance(period);
    // It is missing here and there.
    let is_multiple = |distance: u32| {
        let times = (f64::from(distance) / f64::from(period)).round() as u32;
        let expected = times.saturating_mul(period);
        (2..=MOST_MISSING).contains(&times) && distance.abs_diff(expected) <= tolerance(period).saturating_mul(times)
    };
    // The stretch with the greatest surplus of regular distances.
    let (mut best, mut best_sum) = (0..0, 0_i64);
    let (mut from, mut sum) = (0, 0_i64);
    for (place, distance) in distances().enumerate() {
        sum += if is_regular(distance) {
            1
        } else if is_multiple(distance) {
            0
        } else {
            -IRREGULAR
        };
        if sum <= 0 {
            (from, sum) = (place + 1, 0);
        } else if sum > best_sum {
            (best, best_sum) = (from..place + 1, sum);
        }
    }
    let start = *positions.get(best.start)?;
    let last = *positions.get(best.end)?;
    let regular = distances().skip(best.start).take(best.len()).filter(|distance| is_regular(*distance)).count();
    let covered = f64::from(last - start) + f64::from(period);
    let enough = best.len() + 1 >= LEAST_REPETITIONS && period >= 2 && covered >= LEAST_COVERED * length as f64;
    enough.then_some(Anchor { symbol, period, regular, first: best.start, end: best.end + 1, start })
}

/// Anchors in groups of about the same period, shortest first.
pub fn by_period(mut anchors: Vec<Anchor>) -> Vec<Vec<Anchor>> {
    anchors.sort_by_key(|anchor| (anchor.period, anchor.start, anchor.symbol));
    let mut groups: Vec<Vec<Anchor>> = Vec::new();
    for anchor in anchors {
        let same = |group: &Vec<Anchor>| {
            group
                .first()
                .is_some_and(|first| f64::from(anchor.period) <= f64::from(first.period) * (1.0 + SAME_PERIOD) + 0.5)
        };
        match groups.last_mut().filter(|group| same(group)) {
            Some(group) => group.push(anchor),
            None => groups.push(vec![anchor]),
        }
    }
    groups
}

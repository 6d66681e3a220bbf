//! Chooses the period of a sequence.

use std::ops::Range;

use super::alike::{commonest, likeness};
use super::anchors::{Anchor, LEAST_REPETITIONS, anchors, by_period, tolerance};
use super::boundaries::{Explained, explained, starts};
use super::occurrences::Occurrences;

/// Periods that are looked at, of those that cover most.
const MOST_PERIODS: usize = 24;
/// Share of what lies in repetitions that must recur in them.
const LEAST_EXPLAINED: f64 = 0.6;
/// A period is preferred to a longer one that has a place for as many symbols, but for this share.
const AS_MANY: f64 = 0.95;
/// How much alike the usual repetition and half of the others must be.
const LEAST_ALIKE: f64 = 0.5;
/// How much alike the last must be, of which something may be missing.
const LEAST_ALIKE_LAST: f64 = 0.75;
/// Symbols in repetitions that are no accident, unless they are this share of all.
const LEAST_WITHIN: usize = 24;
const NEARLY_ALL: f64 = 0.8;
/// Of the anchors of a period, the first that is regular this often, of the most, begins the repetitions.
const OFTEN: f64 = 0.8;

/// How a sequence repeats itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repetitions {
    /// Usual length of a repetition.
    pub period: u32,
    /// Positions of each repetition; those in no repetition come before, behind or between.
    pub ranges: Vec<Range<u32>>,
}

struct Candidate {
    starts: Vec<u32>,
    period: u32,
    explained: Explained,
}

/// The shortest period in which nearly every symbol that recurs has its place, of a sequence of symbols numbered densely
/// from 0; `None` where there is none that repeats at least three times and covers enough of the sequence.
///
/// Repetitions may differ: a few symbols may be missing, added or out of order in each. A period is at least 2. Where
/// periods nest, as layers in a step, it is the outer one as long as it has symbols of its own. Takes `O(n log n)`.
pub fn repetitions(sequence: &[u32]) -> Option<Repetitions> {
    if sequence.len() < 2 * LEAST_REPETITIONS || u32::try_from(sequence.len()).is_err() {
        return None;
    }
    let occurrences = Occurrences::of(sequence);
    let mut groups = by_period(anchors(&occurrences, sequence.len()));
    if groups.len() > MOST_PERIODS {
        // Those with most anchors; a tie goes to the shorter period.
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        groups.truncate(MOST_PERIODS);
        groups.sort_by_key(|group| group.first().map(|anchor| anchor.period));
    }
    let candidates: Vec<Candidate> =
        groups.iter().filter_map(|group| candidate(group, &occurrences, sequence)).collect();
    let most = candidates.iter().map(|candidate| candidate.explained.symbols).max()?;
    let chosen =
        candidates.into_iter().find(|candidate| candidate.explained.symbols as f64 >= AS_MANY * most as f64)?;
    Some(cut(&chosen, sequence)).filter(|found| {
        let within: usize = found.ranges.iter().map(ExactSizeIterator::len).sum();
        let is_much = within >= LEAST_WITHIN || within as f64 >= NEARLY_ALL * sequence.len() as f64;
        is_much && found.ranges.len() >= LEAST_REPETITIONS
    })
}

fn candidate(group: &[Anchor], occurrences: &Occurrences, sequence: &[u32]) -> Option<Candidate> {
    let most = group.iter().map(|anchor| anchor.regular).max()?;
    let anchor = group
        .iter()
        .filter(|anchor| anchor.regular as f64 >= OFTEN * most as f64)
        .min_by_key(|anchor| (anchor.start, anchor.symbol))?;
    let starts = starts(anchor, group, occurrences);
    if starts.len() < LEAST_REPETITIONS {
        return None;
    }
    let explained = explained(occurrences, &starts, sequence.len());
    let length = starts.last()?.checked_sub(*starts.first()?)?;
    if (explained.occurrences as f64) < LEAST_EXPLAINED * f64::from(length) {
        return None;
    }
    let pieces: Vec<&[u32]> = starts
        .iter()
        .zip(starts.iter().skip(1))
        .filter_map(|(from, to)| sequence.get(*from as usize..*to as usize))
        .collect();
    let usual = commonest(&pieces);
    let mut likenesses: Vec<f64> = pieces.iter().map(|piece| likeness(usual, piece)).collect();
    let middle = likenesses.len() / 2;
    let median = *likenesses.select_nth_unstable_by(middle, f64::total_cmp).1;
    (median >= LEAST_ALIKE).then_some(Candidate { starts, period: usual.len() as u32, explained })
}

/// The repetitions that begin at the starts of a candidate: each ends where the next begins, or after a period where
/// something else follows. The last counts if it is whole. All begin earlier where that makes the last one more
/// like the others.
fn cut(candidate: &Candidate, sequence: &[u32]) -> Repetitions {
    let period = candidate.period;
    let length = sequence.len() as u32;
    let mut starts = candidate.starts.clone();
    let pieces: Vec<&[u32]> = full(&starts, period).iter().filter_map(|range| piece(sequence, range)).collect();
    let mut usual = commonest(&pieces).to_vec();
    let (Some(first), Some(last)) = (starts.first().copied(), starts.last().copied()) else {
        return Repetitions { period, ranges: Vec::new() };
    };
    let wholeness = |usual: &[u32], last: u32| {
        let range = last..last.saturating_add(period).min(length);
        piece(sequence, &range).map_or(0.0, |piece| likeness(usual, piece))
    };
    let before = sequence.get(..first as usize).unwrap_or_default().iter().rev();
    let earlier = before.zip(usual.iter().rev()).take_while(|(one, other)| one == other).count();
    let earlier = earlier.min(usual.len().saturating_sub(1));
    let of_last = wholeness(&usual, last);
    usual.rotate_right(earlier);
    let mut whole = wholeness(&usual, last - earlier as u32);
    if whole > of_last {
        starts.iter_mut().for_each(|start| *start -= earlier as u32);
    } else {
        whole = of_last;
    }
    let mut ranges = full(&starts, period);
    if let Some(last) = starts.last().copied().filter(|_| whole >= LEAST_ALIKE_LAST) {
        ranges.push(last..last.saturating_add(period).min(length));
    }
    Repetitions { period, ranges }
}

/// The repetitions but the last.
fn full(starts: &[u32], period: u32) -> Vec<Range<u32>> {
    let ends = |(from, to): (&u32, &u32)| {
        let is_long = to - from > period.saturating_add(2 * tolerance(period));
        *from..if is_long { from.saturating_add(period) } else { *to }
    };
    starts.iter().zip(starts.iter().skip(1)).map(ends).collect()
}

fn piece<'a>(sequence: &'a [u32], range: &Range<u32>) -> Option<&'a [u32]> {
    sequence.get(range.start as usize..range.end as usize)
}

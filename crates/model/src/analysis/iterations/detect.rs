//! Chooses the period of a sequence.

use std::ops::Range;

use crate::analysis::iterations::alike::{commonest, likeness};
use crate::analysis::iterations::anchors::{Anchor, anchors, by_period, tolerance};
use crate::analysis::iterations::boundaries::{PeriodFit, Sample, explained, explains, starts};
use crate::analysis::iterations::occurrences::Occurrences;
use crate::analysis::iterations::recurring::recurring_share;
use crate::analysis::thresholds::{RepetitionBounds, Thresholds};

fn bounds() -> &'static RepetitionBounds {
    &Thresholds::builtin().repetitions
}

/// Maximum number of periods to try, those that cover most.
const MAX_PERIODS: usize = 24;
/// Longer sequences are first checked for long recurring parts, which is little work next to a search for wide periods.
/// There is no such period if next to nothing recurs: half of its repetitions have `min_alike_wide` of the fives in
/// common with the usual one, and either they are `same`, or they are `nearly_all`. Then at most one kernel in
/// eighteen is another one, and two in five of the sixteens are unchanged.
const LONG: usize = 4_096;
/// Number of symbols that stand together in the narrowest of those periods.
const WIDE: usize = 4;
/// Maximum number of repetitions compared with the usual one: their median and mean are as good as those of all.
const MAX_COMPARED: usize = 256;
/// How many consecutive symbols are combined: always, and if nothing is found otherwise.
const WIDTHS: [usize; 3] = [1, 2, 4];
const MORE_WIDTHS: [usize; 2] = [8, 16];

/// How a sequence repeats itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Repetitions {
    /// Usual length of a repetition.
    pub period: u32,
    /// Average likeness of the usual repetition and the others, from 0 to 1.
    pub alike: f64,
    /// Positions of each repetition. Other positions are before, after or between them.
    pub ranges: Vec<Range<u32>>,
}

struct Candidate {
    starts: Vec<u32>,
    period: u32,
    explained: PeriodFit,
    /// Average likeness of the usual repetition and the others.
    alike: f64,
    /// Whether the symbols alone do not reveal it.
    wide: bool,
}

/// The shortest period in which nearly every recurring symbol has its place, of a sequence of symbols numbered densely
/// from 0. `None` if no period repeats at least three times and covers enough of the sequence.
///
/// Repetitions may differ: a few symbols may be missing, added or out of order in each. If periods nest, as layers do
/// in a step, it is the outer one, provided that it has symbols of its own. The period is 1 if nearly all symbols are
/// one. Takes `O(n log n)`.
pub fn repetitions(sequence: &[u32]) -> Option<Repetitions> {
    if sequence.len() < 2 * bounds().min_repetitions || u32::try_from(sequence.len()).is_err() {
        return None;
    }
    let occurrences = Occurrences::from_sequence(sequence.to_vec());
    // Occurrences of symbols that stand together; `None` while each stands alone.
    let mut together: Option<Occurrences> = None;
    let mut candidates = Vec::new();
    for width in WIDTHS.into_iter().chain(MORE_WIDTHS) {
        if !candidates.is_empty() && MORE_WIDTHS.contains(&width) {
            break;
        }
        let is_hopeless = || sequence.len() >= LONG && recurring_share(&occurrences) < bounds().min_recurring;
        if width == WIDE && candidates.is_empty() && is_hopeless() {
            break;
        }
        if width > 1 {
            together = Some(together.as_ref().unwrap_or(&occurrences).widened(width / 2));
        }
        let least_alike = if width > 1 { bounds().min_alike_wide } else { bounds().min_alike };
        let of_wide = together.as_ref().unwrap_or(&occurrences);
        // The more symbols stand together, the fewer of them recur.
        if (of_wide.recurring() as f64) < bounds().min_recurring * sequence.len() as f64 {
            break;
        }
        let found = candidates_of(of_wide, least_alike).into_iter();
        candidates.extend(found.map(|(starts, period)| {
            let explained = explained(&occurrences, &starts);
            let likenesses = likenesses(&starts, sequence);
            let alike = likenesses.iter().sum::<f64>() / likenesses.len().max(1) as f64;
            Candidate { starts, period, explained, alike, wide: width > 1 }
        }));
    }
    let found = chosen(candidates).and_then(|chosen| {
        let found = cut(&chosen, sequence);
        let within: usize = found.ranges.iter().map(ExactSizeIterator::len).sum();
        let is_often = chosen.starts.len() >= bounds().min_repetitions_wide;
        let is_nearly_all = within as f64 >= bounds().nearly_all * sequence.len() as f64;
        let signs = [is_often, within >= bounds().min_within_wide, chosen.alike >= bounds().same, is_nearly_all];
        let is_sure = !chosen.wide || signs.into_iter().filter(|sign| *sign).count() >= bounds().min_signs;
        let is_much = within >= bounds().min_within || is_nearly_all;
        (found.ranges.len() >= bounds().min_repetitions && is_much && is_sure).then_some(found)
    });
    found.or_else(|| one_by_one(sequence, &occurrences))
}

/// The shortest period that has a place for nearly all symbols for which any period has one. Its repetitions are nearly
/// as much alike as the repetitions of any other such period.
fn chosen(mut candidates: Vec<Candidate>) -> Option<Candidate> {
    candidates.sort_by_key(|candidate| candidate.period);
    let most = candidates.iter().map(|candidate| candidate.explained.symbols).max()?;
    let longest = candidates.iter().find(|candidate| candidate.explained.symbols == most)?.period;
    candidates.retain(|candidate| {
        let symbols = candidate.explained.symbols;
        let has_all_but_a_rare_one = symbols + 1 >= most && longest >= candidate.period.saturating_mul(bounds().rare);
        symbols as f64 >= bounds().as_many * most as f64 || has_all_but_a_rare_one
    });
    let most_alike = candidates.iter().map(|candidate| candidate.alike).fold(0.0, f64::max);
    candidates.retain(|candidate| candidate.alike >= bounds().as_alike * most_alike);
    let shortest = candidates.first()?.period;
    let is_same = |candidate: &Candidate| candidate.period - shortest <= tolerance(shortest);
    // Among several ways to cut into the same period, the best fitting one wins; among equals the first.
    candidates.into_iter().rev().filter(is_same).max_by_key(|candidate| candidate.explained.occurrences)
}

/// A symbol that makes up nearly all of the sequence in one run.
fn one_by_one(sequence: &[u32], occurrences: &Occurrences) -> Option<Repetitions> {
    let most_frequent = occurrences.symbols().next()?;
    let is_nearly_all = |times: usize| times as f64 >= bounds().nearly_all * sequence.len() as f64;
    if !is_nearly_all(occurrences.of_symbol(most_frequent).len()) {
        return None;
    }
    let mut start = 0;
    let runs = sequence.chunk_by(|one, next| one == next).map(|run| {
        let from = start;
        start += run.len() as u32;
        from..start
    });
    let longest = runs.max_by_key(ExactSizeIterator::len)?;
    let is_much = longest.len() >= bounds().min_within && is_nearly_all(longest.len());
    is_much.then(|| Repetitions { period: 1, alike: 1.0, ranges: longest.map(|place| place..place + 1).collect() })
}

/// Possible starts of repetitions, with their usual length.
fn candidates_of(occurrences: &Occurrences, least_alike: f64) -> Vec<(Vec<u32>, u32)> {
    let mut groups = by_period(anchors(occurrences));
    if groups.len() > MAX_PERIODS {
        // A long period has few occurrences of many symbols. A short period in much noise has many occurrences of few
        // symbols.
        let by = |group: &[Anchor], often: bool| match often {
            true => group.iter().map(|anchor| anchor.regular).sum(),
            false => group.len(),
        };
        for (often, places) in [(false, 0..groups.len()), (true, MAX_PERIODS / 2..groups.len())] {
            if let Some(rest) = groups.get_mut(places) {
                rest.sort_by_key(|group| std::cmp::Reverse(by(group, often)));
            }
        }
        groups.truncate(MAX_PERIODS);
    }
    let sample = Sample::new(occurrences);
    groups.iter().filter_map(|group| candidate(group, occurrences, &sample, least_alike)).collect()
}

fn candidate(
    group: &[Anchor],
    occurrences: &Occurrences,
    sample: &Sample,
    least_alike: f64,
) -> Option<(Vec<u32>, u32)> {
    let sequence = occurrences.sequence();
    let most = group.iter().map(|anchor| anchor.regular).max()?;
    let anchor = group
        .iter()
        .filter(|anchor| anchor.regular as f64 >= bounds().often * most as f64)
        .min_by_key(|anchor| anchor.start)?;
    let starts = starts(anchor, group, occurrences);
    if starts.len() < bounds().min_repetitions {
        return None;
    }
    let length = starts.last()?.checked_sub(*starts.first()?)?;
    if !explains(occurrences, sample, &starts, (bounds().min_explained * f64::from(length)).ceil() as usize) {
        return None;
    }
    let mut likenesses = likenesses(&starts, sequence);
    let middle = likenesses.len() / 2;
    let median = *likenesses.select_nth_unstable_by(middle, f64::total_cmp).1;
    (median >= least_alike).then(|| {
        let period = usual(&pieces(&starts, sequence)).len() as u32;
        (starts, period)
    })
}

fn pieces<'a>(starts: &[u32], sequence: &'a [u32]) -> Vec<&'a [u32]> {
    starts.iter().zip(starts.iter().skip(1)).filter_map(|(from, to)| piece(sequence, &(*from..*to))).collect()
}

/// Likeness of the usual repetition and each of the others, or of evenly spread ones if there are more than are
/// compared.
fn likenesses(starts: &[u32], sequence: &[u32]) -> Vec<f64> {
    let pieces = pieces(starts, sequence);
    let place = commonest(&pieces);
    let usual = pieces.get(place).copied().unwrap_or_default();
    let step = pieces.len().div_ceil(MAX_COMPARED).max(1);
    let others = pieces.iter().enumerate().filter(|(other, _)| *other != place).step_by(step);
    others.map(|(_, piece)| likeness(usual, piece)).collect()
}

/// The usual repetition.
fn usual<'a>(pieces: &[&'a [u32]]) -> &'a [u32] {
    pieces.get(commonest(pieces)).copied().unwrap_or_default()
}

/// The repetitions that start at the starts of a candidate. Each ends where the next starts, or after a period if
/// something else follows. The last counts if it is complete. All start earlier if that makes the last one more like
/// the others.
fn cut(candidate: &Candidate, sequence: &[u32]) -> Repetitions {
    let period = candidate.period;
    let length = sequence.len() as u32;
    let mut starts = candidate.starts.clone();
    let pieces: Vec<&[u32]> = full(&starts, period).iter().filter_map(|range| piece(sequence, range)).collect();
    let mut usual = usual(&pieces).to_vec();
    let (Some(first), Some(last)) = (starts.first().copied(), starts.last().copied()) else {
        return Repetitions { period, alike: candidate.alike, ranges: Vec::new() };
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
    if let Some(last) = starts.last().copied().filter(|_| whole >= bounds().min_alike_last) {
        ranges.push(last..last.saturating_add(period).min(length));
    }
    Repetitions { period, alike: candidate.alike, ranges }
}

/// The repetitions except the last.
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

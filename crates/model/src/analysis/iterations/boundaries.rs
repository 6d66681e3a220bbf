//! Starts of repetitions, and the symbols of each of them.

use crate::analysis::intervals::gallop::gallop;
use crate::analysis::iterations::anchors::{Anchor, tolerance};
use crate::analysis::iterations::occurrences::Occurrences;
use crate::analysis::thresholds::{RepetitionBounds, Thresholds};

fn bounds() -> &'static RepetitionBounds {
    &Thresholds::builtin().repetitions
}

/// Maximum number of anchors, nearest first, that may replace a missing one.
const MAX_LOOKED_AT: usize = 64;
/// Maximum number of evenly spread anchor occurrences whose distances are measured: their median is as good as that of
/// all.
const MAX_MEASURED: usize = 1024;

/// The most frequent symbols are all sampled, of the others one in `ONE_IN`. If the sample explains less than the share
/// `HOPEFUL` of what is needed, the rest is not counted.
const FREQUENT: usize = 256;
const ONE_IN: usize = 16;
const HOPEFUL: f64 = 0.5;

/// Maximum number of repetitions whose ends are each searched for among all positions of a symbol.
const MAX_SEARCHED: usize = 64;

/// Result of cutting a sequence into repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PeriodFit {
    /// Symbols that occur equally often in nearly all repetitions.
    pub symbols: usize,
    /// Number of these occurrences.
    pub occurrences: usize,
}

/// Counts the occurrences that belong to the repetitions that start at `starts`. The last start only ends the
/// repetition before.
pub fn explained(occurrences: &Occurrences, starts: &[u32]) -> PeriodFit {
    counted(occurrences, starts, 0).unwrap_or_default()
}

/// Whether at least `least` occurrences belong to the repetitions. Counting stops once this is decided.
pub fn explains(occurrences: &Occurrences, sample: &Sample, starts: &[u32], least: usize) -> bool {
    let is_little = Pieces::new(starts).is_none_or(|mut pieces| pieces.explain_little(occurrences, sample, least));
    !is_little && counted(occurrences, starts, least).is_some()
}

/// Counts the symbols that belong to the repetitions; `None` if they have less than `enough` occurrences.
fn counted(occurrences: &Occurrences, starts: &[u32], enough: usize) -> Option<PeriodFit> {
    let mut pieces = Pieces::new(starts)?;
    let mut explained = PeriodFit::default();
    // Occurrences that may still belong. The most frequent symbols come first and take the least work for each
    // occurrence.
    let mut left = (pieces.last - pieces.first) as usize;
    for positions in occurrences.with_at_least(pieces.least) {
        if explained.occurrences + left < enough {
            return None;
        }
        let within = pieces.within(positions);
        left = left.saturating_sub(within.len());
        if let Some(times) = pieces.usual_times(within) {
            explained.symbols += 1;
            explained.occurrences += times;
        }
    }
    (explained.occurrences >= enough).then_some(explained)
}

/// Sampled ones of very many symbols, to detect a poor fit early; none if there are fewer symbols.
pub(crate) struct Sample {
    /// Places among the symbols that recur, in rising order, each with the number of symbols that it represents.
    places: Vec<(usize, usize)>,
}

impl Sample {
    /// Samples the symbols of a sequence.
    pub fn new(occurrences: &Occurrences) -> Self {
        let symbols = occurrences.symbols().len();
        if symbols < FREQUENT * ONE_IN {
            return Self { places: Vec::new() };
        }
        let rare = (FREQUENT..symbols).filter(|place| is_sampled(*place)).map(|place| (place, ONE_IN));
        Self { places: (0..FREQUENT).map(|place| (place, 1)).chain(rare).collect() }
    }
}

/// A sequence cut into repetitions.
struct Pieces<'a> {
    starts: &'a [u32],
    first: u32,
    last: u32,
    /// Minimum number of repetitions in which a symbol must occur equally often, which is more than half.
    least: usize,
    /// Number of repetitions by the number of occurrences of the present symbol.
    having: Vec<usize>,
}

impl<'a> Pieces<'a> {
    fn new(starts: &'a [u32]) -> Option<Self> {
        let (first, last) = (*starts.first()?, *starts.last()?);
        let least = (bounds().least_steady * (starts.len() - 1) as f64).ceil() as usize;
        Some(Self { starts, first, last, least, having: Vec::new() })
    }

    /// Whether a sample of very many symbols indicates that far fewer than `enough` occurrences belong to the
    /// repetitions.
    fn explain_little(&mut self, occurrences: &Occurrences, sample: &Sample, enough: usize) -> bool {
        let mut seen = 0;
        for (place, substitutes) in &sample.places {
            let positions = occurrences.of_symbol(*place as u32);
            // All following symbols are even rarer.
            if positions.len() < self.least {
                break;
            }
            seen += substitutes * self.usual_times(self.within(positions)).unwrap_or(0);
        }
        !sample.places.is_empty() && (seen as f64) < HOPEFUL * enough as f64
    }

    /// The positions that are in a repetition.
    fn within<'b>(&self, positions: &'b [u32]) -> &'b [u32] {
        let from = positions.partition_point(|position| *position < self.first);
        let to = positions.partition_point(|position| *position < self.last);
        positions.get(from..to).unwrap_or_default()
    }

    /// Occurrences of a symbol in the repetitions in which it occurs equally often, if these are enough.
    fn usual_times(&mut self, positions: &[u32]) -> Option<usize> {
        if positions.len() < self.least {
            return None;
        }
        let having = &mut self.having;
        having.clear();
        let (mut at, mut most, mut usual) = (0, 0, 0);
        // The ends of few repetitions are far from one another. Searches that do not depend on the one before run
        // together.
        let is_often = self.starts.len() > MAX_SEARCHED;
        for (place, end) in self.starts.iter().enumerate().skip(1) {
            // The remaining repetitions cannot compensate any more.
            if most + (self.starts.len() - place) < self.least {
                return None;
            }
            let next = if is_often {
                gallop(at, positions.len(), |place| positions.get(place).is_some_and(|position| position < end))
            } else {
                positions.partition_point(|position| position < end)
            };
            let times = next - at;
            at = next;
            if times == 0 {
                continue;
            }
            if times >= having.len() {
                having.resize(times + 1, 0);
            }
            if let Some(having) = having.get_mut(times) {
                *having += 1;
                if *having > most {
                    (most, usual) = (*having, times);
                }
            }
        }
        (most >= self.least).then_some(most * usual)
    }
}

/// Chooses one in [`ONE_IN`] places at irregular distances, because symbols are nearly in the order in which they occur
/// in a repetition.
fn is_sampled(place: usize) -> bool {
    // The steps of splitmix64.
    let mixed = (place as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed >> (u64::BITS - ONE_IN.trailing_zeros()) == 0
}

/// Starts of the repetitions by an anchor. Where it is missing once, the first other anchor that is present replaces
/// it.
pub fn starts(anchor: &Anchor, others: &[Anchor], occurrences: &Occurrences) -> Vec<u32> {
    let positions = occurrences.of_symbol(anchor.symbol).get(anchor.first..anchor.end).unwrap_or_default();
    let period = anchor.period;
    let mut starts: Vec<u32> = Vec::with_capacity(positions.len());
    let mut offsets: Option<Vec<(u32, &[u32])>> = None;
    for position in positions {
        if let Some(before) = starts.last().copied() {
            let distance = position - before;
            let times = (f64::from(distance) / f64::from(period)).round() as u32;
            if distance > period + tolerance(period) && times >= 2 {
                let offsets = offsets.get_or_insert_with(|| usual_offsets(anchor, others, occurrences));
                let mut from = before;
                for _ in 1..times {
                    let Some(start) = guessed(from.saturating_add(period), period, offsets) else { break };
                    if start <= from || start >= *position {
                        break;
                    }
                    starts.push(start);
                    from = start;
                }
            } else if distance + tolerance(period) < period {
                // One occurrence too many: the regular one came first.
                continue;
            }
        }
        starts.push(*position);
    }
    starts
}

/// Usual distances of the other anchors behind this one, with their positions; nearest first, then in order of
/// occurrence.
fn usual_offsets<'a>(anchor: &Anchor, others: &[Anchor], occurrences: &'a Occurrences) -> Vec<(u32, &'a [u32])> {
    let of_anchor = occurrences.of_symbol(anchor.symbol);
    let step = of_anchor.len().div_ceil(MAX_MEASURED).max(1);
    let measured = of_anchor.len().div_ceil(step);
    let mut offsets: Vec<(u32, &[u32])> = Vec::new();
    let others = others.iter().filter(|other| other.symbol != anchor.symbol);
    let mut others: Vec<(u32, &[u32])> = others
        .map(|other| {
            let behind = other.start.wrapping_sub(anchor.start) % anchor.period.max(1);
            (behind, occurrences.of_symbol(other.symbol))
        })
        .collect();
    others.sort_unstable();
    for (_, positions) in others.into_iter().take(MAX_LOOKED_AT) {
        let mut found: Vec<u32> = of_anchor
            .iter()
            .step_by(step)
            .filter_map(|at| {
                let next = positions.get(positions.partition_point(|position| position < at))?;
                Some(next - at).filter(|offset| *offset < anchor.period)
            })
            .collect();
        if found.len() * 2 > measured {
            let middle = found.len() / 2;
            offsets.push((*found.select_nth_unstable(middle).1, positions));
        }
    }
    offsets.sort_unstable();
    offsets.truncate(8);
    offsets
}

/// Start of a repetition whose anchor is missing, near the expected place.
fn guessed(expected: u32, period: u32, offsets: &[(u32, &[u32])]) -> Option<u32> {
    offsets.iter().find_map(|(offset, positions)| {
        let expected = expected.saturating_add(*offset);
        let at = positions.partition_point(|position| *position < expected);
        let near = [at.checked_sub(1), Some(at)].into_iter().flatten().filter_map(|at| positions.get(at));
        let found = near.min_by_key(|position| position.abs_diff(expected))?;
        // Without the anchor, everything is one place nearer.
        let start = found.checked_sub(offset.saturating_sub(1))?;
        (found.abs_diff(expected) <= tolerance(period)).then_some(start)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Symbols and occurrences that belong to repetitions, symbol by symbol and repetition by repetition.
    fn by_definition(sequence: &[u32], starts: &[u32]) -> PeriodFit {
        let mut explained = PeriodFit::default();
        let least = bounds().least_steady * (starts.len() - 1) as f64;
        for symbol in 0..=sequence.iter().max().copied().unwrap_or(0) {
            let times = starts.windows(2).map(|pair| {
                sequence[pair[0] as usize..pair[1] as usize].iter().filter(|other| **other == symbol).count()
            });
            let times: Vec<usize> = times.collect();
            let having = |usual: usize| times.iter().filter(|times| **times == usual).count();
            if let Some(usual) =
                times.iter().copied().filter(|usual| *usual > 0).find(|usual| having(*usual) as f64 >= least)
            {
                explained.symbols += 1;
                explained.occurrences += usual * having(usual);
            }
        }
        explained
    }

    #[test]
    fn as_many_symbols_are_looked_at_wherever_they_are_in_a_step() {
        for step in [13, 16, 17, 34, 89, 144] {
            let mut inspected = vec![0_usize; step];
            (0..90_000).filter(|place| is_sampled(*place)).for_each(|place| inspected[place % step] += 1);
            let usual = 90_000 / ONE_IN / step;
            assert!(inspected.iter().all(|times| times.abs_diff(usual) < usual), "{step}: {inspected:?}");
        }
    }

    #[test]
    fn some_of_many_symbols_tell_that_little_is_explained() {
        // Three repetitions of 9,000 symbols; in the second and third of `mixed`, four of five are arbitrary.
        let step: Vec<u32> = (0..9_000).collect();
        let any = |at: u32, symbol: u32| {
            let hash = u64::from(at * 9_000 + symbol).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            (hash % 9_000) as u32
        };
        let other = |at: u32, symbol: u32| if at == 0 || symbol.is_multiple_of(5) { symbol } else { any(at, symbol) };
        let mixed: Vec<u32> = (0..3).flat_map(|at| step.iter().map(move |symbol| other(at, *symbol))).collect();
        let starts = [0, 9_000, 18_000, 27_000];
        for (sequence, is_little) in [(step.repeat(3), false), (mixed, true)] {
            let occurrences = Occurrences::from_sequence(sequence.clone());
            assert!(occurrences.symbols().len() >= FREQUENT * ONE_IN);
            let enough = 16_200;
            let sample = Sample::new(&occurrences);
            let told = Pieces::new(&starts).unwrap().explain_little(&occurrences, &sample, enough);
            let explained = explained(&occurrences, &starts).occurrences;
            assert_eq!((told, explained >= enough), (is_little, !is_little), "{explained}");
            assert_eq!(explains(&occurrences, &sample, &starts, enough), explained >= enough);
        }
    }

    proptest! {
        #[test]
        fn what_cannot_be_enough_is_told_without_counting_all(
            step in prop::collection::vec(0_u32..6, 1..12),
            odd in prop::collection::vec((0_usize..400, 0_u32..9), 0..40),
            times in 3_usize..90,
            starts in prop::collection::btree_set(0_u32..400, 3..100),
        ) {
            let mut sequence = step.repeat(times);
            for (place, symbol) in odd {
                let place = place % sequence.len();
                sequence[place] = symbol;
            }
            let length = sequence.len() as u32;
            let every_step: Vec<u32> = (0..=times as u32).map(|at| at * step.len() as u32).collect();
            let any: Vec<u32> = starts.into_iter().filter(|start| *start <= length).collect();
            let occurrences = Occurrences::from_sequence(sequence.clone());
            let sample = Sample::new(&occurrences);
            for starts in [every_step, any].into_iter().filter(|starts| starts.len() >= 3) {
                let expected = by_definition(&sequence, &starts);
                prop_assert_eq!(explained(&occurrences, &starts), expected);
                let exactly = expected.occurrences;
                for enough in [0, 1, exactly / 2, exactly.saturating_sub(1), exactly, exactly + 1, length as usize] {
                    prop_assert_eq!(explains(&occurrences, &sample, &starts, enough), expected.occurrences >= enough);
                }
            }
        }
    }
}

//! Infers from their times which ranges of threads were started and stopped rather than pushed and popped.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of rounds, each of which takes out the ranges of one text. After that, all ranges that still overlap
/// are taken out.
const ROUNDS: usize = 32;

/// A range of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRange {
    /// Its thread.
    pub tid: i64,
    pub start_ns: i64,
    pub end_ns: i64,
    /// Number of its text: ranges of one text are of one kind.
    pub text: u32,
    /// Whether a call was recorded as made inside it, which is only possible for ranges that are pushed.
    pub is_parent: bool,
}

/// Whether each range was started and stopped. Ranges that are pushed and popped nest or are apart. Among ranges that
/// overlap partly, those that overlap most others on average are taken out, until the rest nests.
pub fn started_and_stopped(ranges: &[OpenRange]) -> Vec<bool> {
    let mut is_started = vec![false; ranges.len()];
    for round in 0.. {
        let overlaps = partial_overlaps(ranges, &is_started);
        if overlaps.iter().all(|count| *count == 0) {
            break;
        }
        let text = (round < ROUNDS).then(|| most_overlapping(ranges, &overlaps, &is_started)).flatten();
        let has_parents = |text| ranges.iter().any(|range| range.text == text && range.is_parent);
        let text_alone = text.filter(|text| !has_parents(*text));
        for ((range, overlaps), is_started) in ranges.iter().zip(&overlaps).zip(&mut is_started) {
            let is_chosen = text.is_none_or(|text| range.text == text);
            *is_started |= is_chosen && (text_alone.is_some() || *overlaps > 0);
        }
    }
    is_started
}

/// The text whose ranges overlap most others on average. Texts without calls inside come first, and among equals the
/// longest ranges.
fn most_overlapping(ranges: &[OpenRange], overlaps: &[u64], is_started: &[bool]) -> Option<u32> {
    #[derive(Default)]
    struct OfText {
        ranges: u128,
        overlaps: u128,
        length_ns: u128,
        is_parent: bool,
    }
    let mut texts: BTreeMap<u32, OfText> = BTreeMap::new();
    for ((range, overlaps), _) in ranges.iter().zip(overlaps).zip(is_started).filter(|(_, is_started)| !**is_started) {
        let of = texts.entry(range.text).or_default();
        of.ranges += 1;
        of.overlaps += u128::from(*overlaps);
        of.length_ns += u128::from(range.end_ns.abs_diff(range.start_ns));
        of.is_parent |= range.is_parent;
    }
    let overlapping = texts.iter().filter(|(_, of)| of.overlaps > 0);
    let chosen = overlapping.max_by(|(one, a), (other, b)| {
        let mean = |count: u128, others: u128| count.saturating_mul(others);
        (!a.is_parent)
            .cmp(&!b.is_parent)
            .then(mean(a.overlaps, b.ranges).cmp(&mean(b.overlaps, a.ranges)))
            .then(mean(a.length_ns, b.ranges).cmp(&mean(b.length_ns, a.ranges)))
            .then(Reverse(*one).cmp(&Reverse(*other)))
    });
    chosen.map(|(text, _)| *text)
}

/// Number of ranges of the same thread that each range overlaps without nesting.
fn partial_overlaps(ranges: &[OpenRange], is_started: &[bool]) -> Vec<u64> {
    let mut by_thread: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (at, (range, _)) in ranges.iter().zip(is_started).enumerate().filter(|(_, (_, is_started))| !**is_started) {
        by_thread.entry(range.tid).or_default().push(at);
    }
    let mut overlaps = vec![0; ranges.len()];
    for mut of_thread in by_thread.into_values() {
        let range = |at: usize| ranges.get(at).map_or((0, 0), |range| (range.start_ns, range.end_ns));
        // Ranges that start before and end inside.
        of_thread.sort_by_key(|at| range(*at));
        let within = |at: usize| (range(at).0, range(at).1, range(at).1);
        add_crossing(&of_thread, &mut overlaps, |at| range(at).0, within);
        // Ranges that start inside and end after: the same with time reversed.
        of_thread.sort_by_key(|at| (Reverse(range(*at).1), range(*at).0));
        let within = |at: usize| (range(at).0, range(at).1, range(at).0);
        add_crossing(&of_thread, &mut overlaps, |at| range(at).1, within);
    }
    overlaps
}

/// Adds to each of the ordered ranges the number of ranges of another `rank` before it whose edge lies inside it.
/// `edges` returns the bounds of a range, and its edge.
fn add_crossing(
    ordered: &[usize],
    overlaps: &mut [u64],
    rank: impl Fn(usize) -> i64,
    edges: impl Fn(usize) -> (i64, i64, i64),
) {
    let mut sorted: Vec<i64> = ordered.iter().map(|at| edges(*at).2).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut counted = Counts::new(sorted.len());
    for group in ordered.chunk_by(|one, other| rank(*one) == rank(*other)) {
        for at in group {
            let (after, before, _) = edges(*at);
            let first = sorted.partition_point(|edge| *edge <= after);
            let last = sorted.partition_point(|edge| *edge < before);
            if let Some(count) = overlaps.get_mut(*at).filter(|_| first < last) {
                *count += counted.below(last).saturating_sub(counted.below(first));
            }
        }
        for at in group {
            counted.add(sorted.partition_point(|edge| *edge < edges(*at).2));
        }
    }
}

/// Numbers at places, with prefix sums in logarithmic time.
struct Counts(Vec<u64>);

impl Counts {
    fn new(places: usize) -> Self {
        Self(vec![0; places + 1])
    }

    fn add(&mut self, place: usize) {
        let mut node = place + 1;
        while let Some(count) = self.0.get_mut(node) {
            *count += 1;
            node += node & node.wrapping_neg();
        }
    }

    /// The number at places before this one.
    fn below(&self, place: usize) -> u64 {
        let (mut node, mut sum) = (place, 0);
        while node > 0 {
            sum += self.0.get(node).copied().unwrap_or(0);
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(text: u32, start_ns: i64, end_ns: i64) -> OpenRange {
        OpenRange { tid: 1, start_ns, end_ns, text, is_parent: false }
    }

    fn cross(one: &OpenRange, other: &OpenRange) -> bool {
        let (first, last) = if one.start_ns <= other.start_ns { (one, other) } else { (other, one) };
        one.tid == other.tid
            && first.start_ns < last.start_ns
            && last.start_ns < first.end_ns
            && first.end_ns < last.end_ns
    }

    #[test]
    fn phases_that_cross_iterations_are_started_and_stopped() {
        let (run, iteration, phase, other) = (0, 1, 2, 3);
        let ranges = [
            range(run, 0, 100),
            range(iteration, 10, 30),
            range(phase, 20, 50),
            range(iteration, 31, 45),
            range(other, 40, 70),
            range(iteration, 46, 60),
            // Another one that crosses nothing.
            range(phase, 80, 90),
        ];
        assert_eq!(started_and_stopped(&ranges), [false, false, true, false, true, false, true]);
    }

    #[test]
    fn calls_show_which_of_two_was_pushed() {
        let pushed = OpenRange { is_parent: true, ..range(0, 0, 50) };
        assert_eq!(started_and_stopped(&[pushed, range(1, 40, 60)]), [false, true]);
        let pushed = OpenRange { is_parent: true, ..range(1, 40, 60) };
        assert_eq!(started_and_stopped(&[range(0, 0, 50), pushed]), [true, false]);
        // Requests that overlap one another.
        assert_eq!(started_and_stopped(&[range(0, 0, 50), range(0, 10, 60), range(1, 1, 2)]), [true, true, false]);
        // On other threads, or only touching.
        let apart = OpenRange { tid: 2, ..range(1, 40, 60) };
        assert_eq!(started_and_stopped(&[range(0, 0, 50), apart, range(2, 50, 60)]), [false; 3]);
    }

    proptest! {
        #[test]
        fn the_rest_nests(rows in prop::collection::vec((0_i64..2, 0_i64..20, 0_i64..20, 0_u32..4, any::<bool>()), 0..20)) {
            let ranges: Vec<OpenRange> = rows
                .iter()
                .map(|(tid, start_ns, length, text, is_parent)| {
                    OpenRange { tid: *tid, start_ns: *start_ns, end_ns: start_ns + length, text: *text, is_parent: *is_parent }
                })
                .collect();
            let counted = partial_overlaps(&ranges, &vec![false; ranges.len()]);
            for (range, count) in ranges.iter().zip(counted) {
                prop_assert_eq!(count, ranges.iter().filter(|other| cross(range, other)).count() as u64);
            }
            let is_started = started_and_stopped(&ranges);
            let rest: Vec<&OpenRange> = ranges.iter().zip(&is_started).filter(|(_, is)| !**is).map(|(range, _)| range).collect();
            prop_assert!(rest.iter().all(|one| rest.iter().all(|other| !cross(one, other))));
            // Nested ranges stay as they are.
            if ranges.iter().all(|one| ranges.iter().all(|other| !cross(one, other))) {
                prop_assert!(is_started.iter().all(|is| !is));
            }
        }
    }
}

//! Matches collective calls of two GPUs: by their numbers if these are recorded, by order if both sides have equally
//! many calls, otherwise by end time.
//!
//! All ranks leave a collective at nearly the same time, however late each arrived. So if some calls were not recorded,
//! end times identify which calls belong together. This works even between different clocks: the clock offset is the
//! difference that most ends agree on.

use crate::analysis::thresholds::{MatchingBounds, Thresholds};
use std::collections::{BTreeMap, BTreeSet};

fn bounds() -> &'static MatchingBounds {
    &Thresholds::builtin().matched_collectives
}

/// Maximum number of shifts to try if one side lacks calls.
const MAX_SHIFTS: usize = 4096;
/// Maximum number of calls by which to judge a shift.
const MAX_SAMPLES: usize = 512;

/// A call of a collective on one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub start_ns: i64,
    /// End, not before the start.
    pub end_ns: i64,
    /// Number on its communicator, which all ranks count alike, if it is recorded.
    pub sequence: Option<i64>,
}

spelled! {
    /// How calls were matched.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Basis by word {
        /// By their order.
        Order = "order",
        /// By their ends.
        Time = "time",
        /// By their recorded numbers.
        Sequence = "sequence",
    }
}

/// The calls of `other`, each with the position of its partner in `reference`, which is at least as long. Both are
/// ordered by start. `same_clock` is true if times of both can be compared.
///
/// Calls that are all numbered are matched by their numbers. Equally many calls are matched by order, unless on one clock the ends reveal missing calls on both sides. Then
/// matching by nearest end yields more overlapping pairs, and covers most calls. If the numbers differ, calls are
/// partners if their ends are mutually nearest and they overlap.
pub fn partners(reference: &[Call], other: &[Call], same_clock: bool) -> (Basis, Vec<Option<u32>>) {
    if let (Some(places), Some(numbers)) = (places_by_number(reference), numbers_of(other)) {
        return (Basis::Sequence, numbers.iter().map(|number| places.get(number).copied()).collect());
    }
    if reference.len() == other.len() {
        let by_order: Vec<Option<u32>> = (0..other.len() as u32).map(Some).collect();
        if !same_clock {
            return (Basis::Order, by_order);
        }
        let together = reference.iter().zip(other).filter(|(one, two)| run_together(one, two)).count();
        if together == other.len() {
            return (Basis::Order, by_order);
        }
        let by_time = nearest_ends(reference, other, 0);
        let found = by_time.iter().flatten().count();
        let better = found > together && found * 100 >= bounds().min_better_pct * other.len();
        return if better { (Basis::Time, by_time) } else { (Basis::Order, by_order) };
    }
    let nobody = vec![None; other.len()];
    if same_clock {
        return (Basis::Time, nearest_ends(reference, other, 0));
    }
    let Some(offset_ns) = clock_offset(reference, other) else { return (Basis::Time, nobody) };
    let matched = nearest_ends(reference, other, offset_ns);
    let enough = matched.iter().flatten().count() * 100 >= bounds().min_matched_pct * other.len().min(reference.len());
    (Basis::Time, if enough { matched } else { nobody })
}

/// The numbers of calls, if all are numbered and no number occurs twice.
fn numbers_of(calls: &[Call]) -> Option<Vec<i64>> {
    let numbers: Vec<i64> = calls.iter().map(|call| call.sequence).collect::<Option<_>>()?;
    let distinct: BTreeSet<i64> = numbers.iter().copied().collect();
    (distinct.len() == numbers.len()).then_some(numbers)
}

fn places_by_number(calls: &[Call]) -> Option<BTreeMap<i64, u32>> {
    Some(numbers_of(calls)?.into_iter().zip(0..).collect())
}

fn run_together(one: &Call, two: &Call) -> bool {
    one.start_ns <= two.end_ns && two.start_ns <= one.end_ns
}

/// Partners that are nearest to each other by their ends and run at the same time, with `offset_ns` added to `other`.
fn nearest_ends(reference: &[Call], other: &[Call], offset_ns: i64) -> Vec<Option<u32>> {
    let shifted: Vec<Call> = other
        .iter()
        .map(|call| Call {
            start_ns: call.start_ns.saturating_add(offset_ns),
            end_ns: call.end_ns.saturating_add(offset_ns),
            ..*call
        })
        .collect();
    let (here, there) = (by_end(&shifted), by_end(reference));
    let mut partners = vec![None; other.len()];
    for &(end_ns, position) in &here {
        let Some(nearest) = nearest(&there, end_ns) else { continue };
        let mutual = nearest_position(&here, nearest.0) == Some(position);
        let calls = shifted.get(position as usize).zip(reference.get(nearest.1 as usize));
        if let (true, Some((call, partner))) = (mutual, calls)
            && run_together(call, partner)
            && let Some(slot) = partners.get_mut(position as usize)
        {
            *slot = Some(nearest.1);
        }
    }
    partners
}

/// Ends and positions in the order of the ends.
fn by_end(calls: &[Call]) -> Vec<(i64, u32)> {
    let mut ends: Vec<(i64, u32)> = calls.iter().map(|call| call.end_ns).zip(0..).collect();
    ends.sort_unstable();
    ends
}

/// The first of the ends that are nearest to a time.
fn nearest(ends: &[(i64, u32)], time_ns: i64) -> Option<(i64, u32)> {
    let after = ends.partition_point(|(end_ns, _)| *end_ns < time_ns);
    let before = after.checked_sub(1).and_then(|before| ends.get(before)).copied();
    let before = before.and_then(|(end_ns, _)| ends.get(ends.partition_point(|(other, _)| *other < end_ns)).copied());
    match (before, ends.get(after).copied()) {
        (Some(before), Some(after)) if time_ns.abs_diff(before.0) <= time_ns.abs_diff(after.0) => Some(before),
        (before, after) => after.or(before),
    }
}

fn nearest_position(ends: &[(i64, u32)], time_ns: i64) -> Option<u32> {
    nearest(ends, time_ns).map(|(_, position)| position)
}

/// Offset to add to times of `other` to get times of `reference`, inferred from calls of which one side lacks some. It is
/// the difference of ends that most calls agree on; `None` if two differences explain them about equally well.
fn clock_offset(reference: &[Call], other: &[Call]) -> Option<i64> {
    let is_shorter = other.len() <= reference.len();
    let (short, long) = if is_shorter { (other, reference) } else { (reference, other) };
    let shifts = long.len().checked_sub(short.len())?;
    if shifts > MAX_SHIFTS || short.len() < 2 {
        return None;
    }
    let step = short.len().div_ceil(MAX_SAMPLES).max(1);
    let mut found: Vec<MedianDeviation> = (0..=shifts)
        .filter_map(|shift| {
            let late = long.get(shift..)?.iter().step_by(step);
            let pairs = short.iter().step_by(step).zip(late);
            let mut differences: Vec<i64> =
                pairs.map(|(call, partner)| partner.end_ns.saturating_sub(call.end_ns)).collect();
            MedianDeviation::compute(&mut differences)
        })
        .collect();
    found.sort_unstable_by_key(|centre| (centre.deviation_ns, centre.median_ns));
    let best = *found.first()?;
    let same_ns = best.deviation_ns.saturating_mul(10).max(10 * bounds().ticks_ns);
    let rival = found.iter().find(|centre| centre.median_ns.abs_diff(best.median_ns) > same_ns as u64);
    let limit_ns = best.deviation_ns.saturating_mul(bounds().clearly_better).saturating_add(bounds().ticks_ns);
    if rival.is_some_and(|rival| rival.deviation_ns <= limit_ns) {
        return None;
    }
    Some(if is_shorter { best.median_ns } else { best.median_ns.saturating_neg() })
}

/// Median and median absolute deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MedianDeviation {
    /// Median, the lower of two.
    pub median_ns: i64,
    /// Median of the absolute deviations from it, the lower of two.
    pub deviation_ns: i64,
}

impl MedianDeviation {
    /// Computes it from values in any order, which are overwritten; `None` without values.
    pub fn compute(values: &mut [i64]) -> Option<Self> {
        let middle = values.len().checked_sub(1)? / 2;
        let median_ns = *values.select_nth_unstable(middle).1;
        values.iter_mut().for_each(|value| *value = value.saturating_sub(median_ns).saturating_abs());
        let deviation_ns = *values.select_nth_unstable(middle).1;
        Some(Self { median_ns, deviation_ns })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Side = Vec<(Call, usize)>;

    /// Calls that end together on both sides, up to `jitter_ns`, at irregular distances of more than 5 µs; each side lacks
    /// what its mask leaves out.
    fn sides(steps: &[(i64, i64, i64, bool, bool)], offset_ns: i64) -> (Side, Side) {
        let (mut one, mut two) = (Vec::new(), Vec::new());
        let mut time = 1_000_000;
        for (number, (gap, late, jitter, here, there)) in steps.iter().enumerate() {
            time += gap;
            if *here {
                one.push((Call { start_ns: time - 1_000, end_ns: time, sequence: None }, number));
            }
            if *there {
                let (start_ns, end_ns) = (time - 1_000 + late + offset_ns, time + jitter + offset_ns);
                two.push((Call { start_ns, end_ns, sequence: None }, number));
            }
        }
        (one, two)
    }

    fn pairs(one: &[(Call, usize)], two: &[(Call, usize)], same_clock: bool) -> (Basis, Vec<(usize, usize)>) {
        let calls = |side: &[(Call, usize)]| side.iter().map(|(call, _)| *call).collect::<Vec<_>>();
        let (basis, partners) = partners(&calls(one), &calls(two), same_clock);
        let pair = |(position, partner): (usize, &Option<u32>)| Some((one[(*partner)? as usize].1, two[position].1));
        (basis, partners.iter().enumerate().filter_map(pair).collect())
    }

    proptest! {
        #[test]
        fn on_one_clock_calls_find_their_partners_whatever_is_missing(
            steps in prop::collection::vec((5_000_i64..90_000, 0_i64..900, -50_i64..50, any::<bool>(), any::<bool>()), 0..40)
        ) {
            let (one, two) = sides(&steps, 0);
            let common: Vec<(usize, usize)> = (0..steps.len()).filter(|at| steps[*at].3 && steps[*at].4).map(|at| (at, at)).collect();
            let (basis, found) = pairs(&one, &two, true);
            if basis == Basis::Time || common.len() == one.len().max(two.len()) {
                prop_assert_eq!(found, common);
            } else {
                // Order is used only if not more of them run together by time.
                let together = found.iter().filter(|(here, there)| here == there).count();
                let few = common.len() * 100 < bounds().min_better_pct * one.len();
                prop_assert!(together >= common.len() || few, "{:?} {:?}", found, common);
            }
        }

        #[test]
        fn between_clocks_a_partner_is_the_right_one_or_none(
            steps in prop::collection::vec((5_000_i64..900_000, 0_i64..900, -50_i64..50), 12..60),
            lost in prop::collection::btree_set(0_usize..60, 1..3), offset_ns in -1_000_000_000_000_i64..1_000_000_000_000
        ) {
            let steps: Vec<_> = steps.iter().enumerate().map(|(at, (gap, late, jitter))| (*gap, *late, *jitter, true, !lost.contains(&at))).collect();
            let (one, two) = sides(&steps, offset_ns);
            let (_, found) = pairs(&one, &two, false);
            prop_assert!(found.iter().all(|(here, there)| here == there), "{:?}", found);
        }
    }

    #[test]
    fn a_lost_beginning_is_told_between_clocks() {
        let steps: Vec<_> = [9, 5, 8, 6, 7, 5, 9, 8, 6, 5]
            .iter()
            .enumerate()
            .map(|(at, gap)| (gap * 10_000, 100, 20, true, at > 1))
            .collect();
        let (one, two) = sides(&steps, 77_000_000_000);
        assert_eq!(pairs(&one, &two, false), (Basis::Time, (2..10).map(|at| (at, at)).collect()));
    }

    #[test]
    fn recorded_numbers_leave_nothing_to_guess() {
        let calls = |numbers: &[i64]| -> Vec<Call> {
            (0..)
                .zip(numbers)
                .map(|(at, number)| Call { start_ns: at * 10, end_ns: at * 10 + 5, sequence: Some(*number) })
                .collect()
        };
        let (basis, found) = partners(&calls(&[3, 4, 5, 6]), &calls(&[5, 6, 7]), false);
        assert_eq!((basis, found), (Basis::Sequence, vec![Some(2), Some(3), None]));
        // Numbers that occur twice do not identify a call.
        assert_eq!(partners(&calls(&[3, 3]), &calls(&[3, 4]), true).0, Basis::Order);
    }

    #[test]
    fn equal_distances_say_nothing_about_what_is_lost() {
        let steps: Vec<_> = (0..10).map(|at| (10_000, 100, 0, true, at > 1)).collect();
        let (one, two) = sides(&steps, 77_000_000_000);
        assert_eq!(pairs(&one, &two, false).1, []);
        assert_eq!(pairs(&one, &two, true).1, []);
        let (one, two) = sides(&steps, 0);
        assert_eq!(pairs(&one, &two, true).1.len(), 8);
    }

    #[test]
    fn as_many_calls_are_matched_by_order_between_clocks() {
        let steps: Vec<_> = (0..5).map(|_| (10_000, 100, 0, true, true)).collect();
        let (one, two) = sides(&steps, 5_000_000);
        assert_eq!(pairs(&one, &two, false).0, Basis::Order);
        assert_eq!(
            MedianDeviation::compute(&mut [5, 1, 9, 2]),
            Some(MedianDeviation { median_ns: 2, deviation_ns: 1 })
        );
        assert_eq!(MedianDeviation::compute(&mut []), None);
    }

    #[test]
    fn damaged_ends_do_not_overflow() {
        let call = |end_ns| Call { start_ns: end_ns, end_ns, sequence: None };
        let (long, short) = ([call(i64::MIN), call(0), call(5)], [call(i64::MAX), call(i64::MAX)]);
        assert_eq!(partners(&long, &short, false).1.len(), 2);
    }
}

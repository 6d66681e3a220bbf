//! Nesting of the ranges of one thread, and the innermost range at a time.

use std::cmp::Reverse;
use std::collections::BTreeMap;

pub use crate::analysis::intervals::Interval as Extent;

/// The ranges that are open at a time, in the order of their ends; of equal ends, the one opened last comes first.
#[derive(Default)]
struct Open {
    ranges: BTreeMap<(i64, Reverse<u32>), u32>,
    opened: u32,
}

impl Open {
    fn close_until(&mut self, time_ns: i64) {
        while let Some(first) = self.ranges.first_entry().filter(|first| first.key().0 <= time_ns) {
            first.remove();
        }
    }

    fn open(&mut self, range: u32, end_ns: i64) {
        self.ranges.insert((end_ns, Reverse(self.opened)), range);
        self.opened = self.opened.saturating_add(1);
    }

    fn innermost(&self) -> Option<u32> {
        self.ranges.first_key_value().map(|(_, range)| *range)
    }

    fn innermost_until(&self, end_ns: i64) -> Option<u32> {
        self.ranges.range((end_ns, Reverse(u32::MAX))..).next().map(|(_, range)| *range)
    }
}

/// Positions of the ranges that have a length; outer ranges come before those inside them.
pub(crate) fn outermost_first(ranges: &[Extent]) -> Vec<u32> {
    let mut order: Vec<u32> =
        (0_u32..).zip(ranges).filter(|(_, range)| range.start_ns < range.end_ns).map(|(index, _)| index).collect();
    let place = |index: &u32| ranges.get(*index as usize).map(|range| (range.start_ns, Reverse(range.end_ns), *index));
    if !order.is_sorted_by_key(place) {
        order.sort_unstable_by_key(place);
    }
    order
}

/// The parent of each range of *one* thread, given in any order.
///
/// A range lies in ranges that neither start after nor end before it. Its parent is the one that ends first, then the
/// one that starts last. Of ranges with equal bounds, those with the higher position lie in those with the lower.
/// Ranges that overlap in part do not lie in one another, and neither do ranges without length. Takes `O(n log n)`.
pub fn parents(ranges: &[Extent]) -> Vec<Option<u32>> {
    let mut parents = vec![None; ranges.len()];
    let mut open = Open::default();
    for index in outermost_first(ranges) {
        let Some(range) = ranges.get(index as usize) else { continue };
        open.close_until(range.start_ns);
        if let Some(parent) = parents.get_mut(index as usize) {
            *parent = open.innermost_until(range.end_ns);
        }
        open.open(index, range.end_ns);
    }
    parents
}

/// The innermost of the ranges of *one* thread at each of some times. Of the ranges that have started and not ended, it
/// is the one that ends first, then the one that starts last, then the one with the highest position. Takes `O(n log
/// n)`.
pub fn innermost(ranges: &[Extent], times_ns: &[i64]) -> Vec<Option<u32>> {
    let mut found = vec![None; times_ns.len()];
    let mut order: Vec<u32> = (0_u32..).zip(times_ns).map(|(index, _)| index).collect();
    let time = |index: &u32| times_ns.get(*index as usize).copied();
    if !order.is_sorted_by_key(time) {
        order.sort_by_key(time);
    }
    let mut open = Open::default();
    let mut begins = outermost_first(ranges).into_iter().peekable();
    let extent = |index: u32| ranges.get(index as usize);
    for index in order {
        let Some(time_ns) = time(&index) else { continue };
        while let Some(begun) = begins.next_if(|begin| extent(*begin).is_some_and(|range| range.start_ns <= time_ns)) {
            if let Some(range) = extent(begun) {
                open.open(begun, range.end_ns);
            }
        }
        open.close_until(time_ns);
        if let Some(slot) = found.get_mut(index as usize) {
            *slot = open.innermost();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn extents(bounds: &[(i64, i64)]) -> Vec<Extent> {
        bounds.iter().map(|(start_ns, end_ns)| Extent { start_ns: *start_ns, end_ns: *end_ns }).collect()
    }

    fn contains(ranges: &[Extent], outer: usize, inner: usize) -> bool {
        let (a, b) = (ranges[outer], ranges[inner]);
        outer != inner
            && a.start_ns < a.end_ns
            && b.start_ns < b.end_ns
            && a.start_ns <= b.start_ns
            && b.end_ns <= a.end_ns
            && (a != b || outer < inner)
    }

    fn parents_by_definition(ranges: &[Extent]) -> Vec<Option<u32>> {
        (0..ranges.len())
            .map(|inner| {
                (0..ranges.len())
                    .filter(|outer| contains(ranges, *outer, inner))
                    .min_by_key(|outer| (ranges[*outer].end_ns, Reverse(ranges[*outer].start_ns), Reverse(*outer)))
                    .map(|outer| outer as u32)
            })
            .collect()
    }

    fn innermost_by_definition(ranges: &[Extent], time_ns: i64) -> Option<u32> {
        (0..ranges.len())
            .filter(|index| (ranges[*index].start_ns..ranges[*index].end_ns).contains(&time_ns))
            .min_by_key(|index| (ranges[*index].end_ns, Reverse(ranges[*index].start_ns), Reverse(*index)))
            .map(|index| index as u32)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn match_the_definitions(
            bounds in prop::collection::vec((0_i64..20, 0_i64..20), 0..16),
            times in prop::collection::vec(-1_i64..21, 0..30),
        ) {
            let ranges = extents(&bounds);
            prop_assert_eq!(parents(&ranges), parents_by_definition(&ranges));
            let expected: Vec<Option<u32>> =
                times.iter().map(|time_ns| innermost_by_definition(&ranges, *time_ns)).collect();
            prop_assert_eq!(innermost(&ranges, &times), expected);
        }

        #[test]
        fn any_bounds_are_survived(bounds in prop::collection::vec(any::<(i64, i64)>(), 0..20), time in any::<i64>()) {
            let ranges = extents(&bounds);
            let parents = parents(&ranges);
            prop_assert!((0..).zip(&parents).all(|(index, parent)| *parent != Some(index)));
            prop_assert_eq!(innermost(&ranges, &[time]), [innermost_by_definition(&ranges, time)]);
        }
    }

    #[test]
    fn ranges_nest() {
        assert_eq!(parents(&extents(&[(10, 50), (0, 100), (20, 30), (60, 70)])), [Some(1), None, Some(0), Some(1)]);
        assert_eq!(parents(&extents(&[(0, 9), (0, 9)])), [None, Some(0)]);
        // The second overlaps the first in part, the third lies in both.
        assert_eq!(parents(&extents(&[(0, 10), (5, 15), (6, 8)])), [None, None, Some(0)]);
    }

    #[test]
    fn a_range_begins_at_its_start_and_is_over_at_its_end() {
        let ranges = extents(&[(0, 10), (10, 20)]);
        assert_eq!(innermost(&ranges, &[20, 10, 9, 0, -1]), [None, Some(1), Some(0), Some(0), None]);
    }

    #[test]
    fn a_hundred_thousand_ranges_that_overlap_in_part_take_no_time() {
        let bounds: Vec<(i64, i64)> = (0..100_000).map(|at| (at, at + 100_000)).collect();
        assert!(parents(&extents(&bounds)).iter().all(Option::is_none));
    }
}

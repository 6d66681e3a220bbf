//! The innermost range of a thread at each moment.

use std::cmp::Reverse;

use crate::analysis::intervals::Interval;

/// A range of a thread, or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Time of the range.
    pub time: Interval,
    pub row: u32,
}

/// The intervals of *one* thread inside at least one range, each with the range that started last of those open.
///
/// Among ranges that start together, the longest is the outermost, then the one with the lowest row. The result is in
/// order, its parts do not overlap, and there are at most twice as many as ranges. Takes `O(n log n)`.
pub fn innermost(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.retain(|range| !range.time.is_empty());
    let order = |range: &Range| (range.time.start_ns, Reverse(range.time.end_ns), range.row);
    if !ranges.is_sorted_by_key(order) {
        ranges.sort_unstable_by_key(order);
    }
    let mut parts = Parts::default();
    let mut open: Vec<Range> = Vec::new();
    for range in ranges {
        close_until(&mut open, range.time.start_ns, &mut parts);
        open.push(range);
    }
    close_until(&mut open, i64::MAX, &mut parts);
    parts.done
}

/// Advances to a time before which no range starts.
fn close_until(open: &mut Vec<Range>, time_ns: i64, parts: &mut Parts) {
    while let Some(range) = open.last() {
        parts.reach(range, time_ns);
        if range.time.end_ns > time_ns {
            break;
        }
        open.pop();
    }
}

#[derive(Default)]
struct Parts {
    done: Vec<Range>,
    reached_ns: Option<i64>,
}

impl Parts {
    fn reach(&mut self, range: &Range, time_ns: i64) {
        let from_ns = self.reached_ns.map_or(range.time.start_ns, |reached_ns| reached_ns.max(range.time.start_ns));
        let time = Interval::new(from_ns, range.time.end_ns.min(time_ns));
        if !time.is_empty() {
            self.done.push(Range { time, row: range.row });
            self.reached_ns = Some(time.end_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at_moment(ranges: &[Range], moment: i64) -> Option<u32> {
        let open = ranges.iter().filter(|range| range.time.start_ns <= moment && moment < range.time.end_ns);
        open.max_by_key(|range| (range.time.start_ns, Reverse(range.time.end_ns), range.row)).map(|range| range.row)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_moment_has_its_range(bounds in prop::collection::vec((0_i64..30, -1_i64..20), 0..15)) {
            let rows = (0_u32..).zip(bounds);
            let ranges: Vec<Range> =
                rows.map(|(row, (start, length))| Range { time: Interval::new(start, start + length), row }).collect();
            let parts = innermost(ranges.clone());
            prop_assert!(parts.len() <= 2 * ranges.len());
            prop_assert!(parts.windows(2).all(|pair| pair[0].time.end_ns <= pair[1].time.start_ns));
            for moment in -1_i64..52 {
                let found = parts.iter().find(|part| part.time.start_ns <= moment && moment < part.time.end_ns);
                prop_assert_eq!(found.map(|part| part.row), at_moment(&ranges, moment));
            }
        }
    }
}

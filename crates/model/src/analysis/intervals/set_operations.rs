//! Operations on merged lists, which tests compare with faster methods.

use super::arithmetic::{Interval, to_signed, union};

/// Time in nanoseconds covered by at least one of the intervals, given in any order; at most `i64::MAX`.
pub(crate) fn union_length_ns(intervals: impl IntoIterator<Item = Interval>) -> i64 {
    total_length_ns(&union(intervals))
}

/// Sum of the lengths in nanoseconds, at most `i64::MAX`. For a merged list this is the time it covers.
pub(crate) fn total_length_ns(intervals: &[Interval]) -> i64 {
    let total = intervals.iter().fold(0_u64, |total, interval| total.saturating_add(interval.unsigned_length_ns()));
    to_signed(total)
}

/// The time covered by both merged lists, as a merged list.
pub fn intersection(left: &[Interval], right: &[Interval]) -> Vec<Interval> {
    let mut common = Vec::new();
    let mut lefts = left.iter().copied().peekable();
    let mut rights = right.iter().copied().peekable();
    while let (Some(&a), Some(&b)) = (lefts.peek(), rights.peek()) {
        common.extend(a.overlap(b));
        if a.end_ns <= b.end_ns {
            lefts.next();
        } else {
            rights.next();
        }
    }
    common
}

/// The time covered by the merged list `left` and not by the merged list `right`, as a merged list.
pub fn difference(left: &[Interval], right: &[Interval]) -> Vec<Interval> {
    let mut kept = Vec::new();
    let mut holes = right.iter().copied().peekable();
    for &interval in left {
        let mut rest = interval;
        while let Some(&hole) = holes.peek() {
            if hole.start_ns >= rest.end_ns {
                break;
            }
            if hole.end_ns > rest.start_ns {
                push_unless_empty(&mut kept, rest.start_ns, hole.start_ns);
                rest.start_ns = hole.end_ns;
            }
            // A hole that reaches beyond this interval may cut into the next one too.
            if hole.end_ns > interval.end_ns {
                break;
            }
            holes.next();
        }
        push_unless_empty(&mut kept, rest.start_ns, rest.end_ns);
    }
    kept
}

fn push_unless_empty(intervals: &mut Vec<Interval>, start_ns: i64, end_ns: i64) {
    let interval = Interval::new(start_ns, end_ns);
    if !interval.is_empty() {
        intervals.push(interval);
    }
}

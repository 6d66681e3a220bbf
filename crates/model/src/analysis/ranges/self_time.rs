//! Self time of API calls: how long each call of a thread ran outside the calls it made.

use std::cmp::Reverse;

use rayon::prelude::*;

pub use crate::analysis::intervals::Interval as Call;

/// A call that has started and may contain the next calls.
struct Open {
    index: usize,
    end_ns: i64,
    /// Contained calls cover `covered_ns` of it, and nothing after this time.
    covered_until_ns: i64,
    covered_ns: u64,
    /// Every call below it in the stack contains it.
    nested: bool,
}

impl Open {
    fn cover(&mut self, start_ns: i64, end_ns: i64) {
        let from_ns = self.covered_until_ns.max(start_ns);
        if from_ns < end_ns {
            self.covered_ns = self.covered_ns.saturating_add(end_ns.abs_diff(from_ns));
            self.covered_until_ns = end_ns;
        }
    }
}

/// Self time in nanoseconds of each of the calls of *one* thread, given in any order.
///
/// `result[i]` is the duration of call `i` minus the time covered by the other calls contained in it. A call is
/// contained in another if it neither starts before nor ends after it; of calls with equal bounds, those with the
/// higher index are contained in those with the lower. Calls that overlap in part take nothing from one another. A
/// reversed call has self time 0 and is otherwise ignored. Durations are at most `i64::MAX`.
///
/// Takes `O(n log n)` when calls nest. Each open call that overlaps in part adds a step for every call that starts
/// meanwhile.
pub fn self_times(calls: &[Call]) -> Vec<i64> {
    let forward = (0_u32..).zip(calls).filter(|(_, call)| call.start_ns <= call.end_ns);
    let mut order: Vec<u32> = forward.map(|(index, _)| index).collect();
    // Containing calls come before those they contain.
    let place = |index: &u32| calls.get(*index as usize).map(|call| (call.start_ns, Reverse(call.end_ns), *index));
    if !order.is_sorted_by_key(place) {
        order.par_sort_by_key(place);
    }

    let mut covered = vec![0_u64; calls.len()];
    // Sorted by end, the earliest on top, so that the calls that contain the next one are the bottom part.
    let mut stack: Vec<Open> = Vec::new();
    for index in order.into_iter().map(|index| index as usize) {
        let Some(&call) = calls.get(index) else { continue };
        while let Some(done) = stack.pop_if(|open| open.end_ns <= call.start_ns) {
            store(&mut covered, &done);
        }
        let containing = stack.partition_point(|open| open.end_ns >= call.end_ns);
        for (position, open) in stack.iter_mut().enumerate().rev() {
            if position >= containing {
                // The new call goes below this one and ends later, so it does not contain it.
                open.nested = false;
                continue;
            }
            open.cover(call.start_ns, call.end_ns);
            // Everything below contains `open`, so it was covered there as a whole when `open` started.
            if open.nested {
                break;
            }
        }
        let opened = Open { index, end_ns: call.end_ns, covered_until_ns: call.start_ns, covered_ns: 0, nested: true };
        stack.insert(containing, opened);
    }
    for done in &stack {
        store(&mut covered, done);
    }
    calls.iter().zip(covered).map(|(call, covered_ns)| self_time(*call, covered_ns)).collect()
}

fn store(covered: &mut [u64], done: &Open) {
    if let Some(slot) = covered.get_mut(done.index) {
        *slot = done.covered_ns;
    }
}

fn self_time(call: Call, covered_ns: u64) -> i64 {
    if call.end_ns < call.start_ns {
        return 0;
    }
    let own_ns = call.end_ns.abs_diff(call.start_ns).saturating_sub(covered_ns);
    i64::try_from(own_ns).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::intervals::union_length_ns;

    fn call((start_ns, end_ns): (i64, i64)) -> Call {
        Call { start_ns, end_ns }
    }

    fn contains(calls: &[Call], outer: usize, inner: usize) -> bool {
        let (a, b) = (calls[outer], calls[inner]);
        outer != inner
            && b.start_ns <= b.end_ns
            && b.start_ns >= a.start_ns
            && b.end_ns <= a.end_ns
            && (a != b || outer < inner)
    }

    fn by_definition(calls: &[Call]) -> Vec<i64> {
        (0..calls.len())
            .map(|outer| {
                let inner = (0..calls.len()).filter(|inner| contains(calls, outer, *inner)).map(|inner| calls[inner]);
                (calls[outer].end_ns - calls[outer].start_ns).max(0) - union_length_ns(inner).max(0)
            })
            .map(|time| time.max(0))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn matches_the_definition(bounds in prop::collection::vec((0_i64..20, 0_i64..20), 0..16)) {
            let calls: Vec<Call> = bounds.into_iter().map(call).collect();
            prop_assert_eq!(self_times(&calls), by_definition(&calls));
        }

        #[test]
        fn short_calls_in_long_ones_match_too(bounds in prop::collection::vec((0_i64..60, 0_i64..9, any::<bool>()), 0..40)) {
            let calls: Vec<Call> = bounds
                .into_iter()
                .map(|(start, length, long)| call((start, start + if long { length * 6 } else { length })))
                .collect();
            prop_assert_eq!(self_times(&calls), by_definition(&calls));
        }

        #[test]
        fn any_bounds_are_survived(bounds in prop::collection::vec(any::<(i64, i64)>(), 0..20)) {
            let calls: Vec<Call> = bounds.into_iter().map(call).collect();
            prop_assert!(self_times(&calls).into_iter().all(|time| time >= 0));
        }
    }

    #[test]
    fn calls_take_the_time_of_what_they_contain() {
        for (bounds, expected) in [
            (&[][..], &[][..]),
            // Nested calls are subtracted once.
            (&[(0, 100), (10, 50), (20, 30), (60, 70)], &[50, 30, 10, 10]),
            // Calls that overlap in part take nothing; the short one lies in both, then in the first.
            (&[(0, 10), (5, 15)], &[10, 10]),
            (&[(0, 10), (5, 15), (6, 8)], &[8, 8, 2]),
            (&[(0, 10), (2, 6), (4, 8)], &[4, 4, 4]),
            (&[(3, 9), (3, 9), (3, 9)], &[0, 0, 6]),
            // Reversed and empty ones, and the widest.
            (&[(0, 10), (8, 2), (5, 5)], &[10, 0, 0]),
            (&[(i64::MIN, i64::MAX)], &[i64::MAX]),
        ] {
            let calls: Vec<Call> = bounds.iter().copied().map(call).collect();
            assert_eq!(self_times(&calls), expected, "{bounds:?}");
        }
    }
}

//! How much of an interval is covered by other intervals.

use crate::analysis::intervals::Interval;
use crate::analysis::intervals::gallop::gallop_near;

/// Merged intervals, prepared for many lookups.
#[derive(Debug, Default)]
pub struct Coverage {
    intervals: Vec<Interval>,
    /// Time covered before each of them.
    before_ns: Vec<i64>,
}

impl Coverage {
    /// The time covered by at least one of some intervals, given in the merged form of [`union`].
    ///
    /// [`union`]: crate::analysis::intervals::union
    pub fn of_merged(intervals: Vec<Interval>) -> Self {
        let mut sum_ns = 0_i64;
        let before_ns = intervals
            .iter()
            .map(|interval| {
                let before_ns = sum_ns;
                sum_ns = sum_ns.saturating_add(interval.length_ns());
                before_ns
            })
            .collect();
        Self { intervals, before_ns }
    }

    /// Covered nanoseconds between two times, 0 unless the first is the earlier one. Takes `O(log n)`.
    pub fn between_ns(&self, start_ns: i64, end_ns: i64) -> i64 {
        if start_ns < end_ns { self.until_ns(end_ns).saturating_sub(self.until_ns(start_ns)) } else { 0 }
    }

    /// Looks up intervals one after the other, each near the one before.
    pub fn walk(&self) -> Walk<'_> {
        Walk { coverage: self, start: 0, end: 0 }
    }

    fn until_ns(&self, time_ns: i64) -> i64 {
        self.until_within(self.intervals.partition_point(|interval| interval.start_ns < time_ns), time_ns)
    }

    /// Covered nanoseconds until a time before which this many intervals have started.
    fn until_within(&self, begun: usize, time_ns: i64) -> i64 {
        let Some(last) = begun.checked_sub(1) else { return 0 };
        match (self.intervals.get(last), self.before_ns.get(last)) {
            (Some(interval), Some(before_ns)) => {
                let within = Interval::new(interval.start_ns, interval.end_ns.min(time_ns));
                before_ns.saturating_add(within.length_ns())
            }
            _ => 0,
        }
    }

    /// Number of intervals that have started before a time; `near` is about that number.
    fn begun(&self, near: usize, time_ns: i64) -> usize {
        let has_begun = |place: usize| self.intervals.get(place).is_some_and(|interval| interval.start_ns < time_ns);
        gallop_near(near, self.intervals.len(), has_begun)
    }
}

/// Walks along the covered time, see [`Coverage::walk`].
pub struct Walk<'a> {
    coverage: &'a Coverage,
    start: usize,
    end: usize,
}

impl Walk<'_> {
    /// Same as [`Coverage::between_ns`].
    pub fn between_ns(&mut self, start_ns: i64, end_ns: i64) -> i64 {
        if start_ns >= end_ns {
            return 0;
        }
        self.start = self.coverage.begun(self.start, start_ns);
        self.end = self.coverage.begun(self.end, end_ns);
        let until = |begun, time_ns| self.coverage.until_within(begun, time_ns);
        until(self.end, end_ns).saturating_sub(until(self.start, start_ns))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::intervals::{intersection, total_length_ns, union};

    proptest! {
        #[test]
        fn it_is_the_length_of_what_is_common(
            intervals in prop::collection::vec((0_i64..40, 0_i64..9), 0..12),
            asked in prop::collection::vec((-5_i64..50, -5_i64..50), 1..9),
        ) {
            let merged = union(intervals.iter().map(|(start, length)| Interval::new(*start, start + length)));
            let coverage = Coverage::of_merged(merged.clone());
            let mut walk = coverage.walk();
            for (start_ns, end_ns) in asked {
                let asked = Interval::new(start_ns, end_ns);
                let common = if asked.is_empty() { Vec::new() } else { intersection(&merged, &[asked]) };
                prop_assert_eq!(coverage.between_ns(start_ns, end_ns), total_length_ns(&common));
                prop_assert_eq!(walk.between_ns(start_ns, end_ns), total_length_ns(&common));
            }
        }
    }
}

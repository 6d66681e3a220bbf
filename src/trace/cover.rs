//! How much of a stretch of time is covered by others.

use super::intervals::{Interval, union};

/// Stretches that cover time together, ready to be asked often.
#[derive(Debug, Default)]
pub struct Cover {
    merged: Vec<Interval>,
    /// Time covered before each of them.
    before_ns: Vec<i64>,
}

impl Cover {
    /// Of intervals in any order; those that come in the order of their starts need room only for what they cover together.
    #[must_use]
    pub fn of(intervals: impl IntoIterator<Item = Interval>) -> Self {
        let mut cover = Self::default();
        intervals.into_iter().for_each(|interval| cover.add(interval));
        cover.finish()
    }

    /// Adds an interval. Nothing may be asked until [`Self::finish`].
    pub fn add(&mut self, interval: Interval) {
        match self.merged.last_mut() {
            _ if interval.is_empty() => {}
            Some(last) if (last.start_ns..=last.end_ns).contains(&interval.start_ns) => {
                last.end_ns = last.end_ns.max(interval.end_ns);
            }
            _ => self.merged.push(interval),
        }
    }

    /// Makes it ready to be asked.
    #[must_use]
    pub fn finish(self) -> Self {
        let merged = union(self.merged);
        let mut sum = 0_i64;
        let before_ns = merged
            .iter()
            .map(|interval| {
                let before = sum;
                sum = sum.saturating_add(interval.length_ns());
                before
            })
            .collect();
        Self { merged, before_ns }
    }

    /// Time in nanoseconds of the interval that is covered.
    #[must_use]
    pub fn covered_ns(&self, interval: Interval) -> i64 {
        if interval.is_empty() {
            return 0;
        }
        self.covered_before_ns(interval.end_ns).saturating_sub(self.covered_before_ns(interval.start_ns))
    }

    fn covered_before_ns(&self, time_ns: i64) -> i64 {
        let after = self.merged.partition_point(|interval| interval.start_ns < time_ns);
        let Some(last) = after.checked_sub(1) else { return 0 };
        let (Some(interval), Some(before)) = (self.merged.get(last), self.before_ns.get(last)) else { return 0 };
        before.saturating_add(Interval::new(interval.start_ns, interval.end_ns.min(time_ns)).length_ns())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn interval() -> impl Strategy<Value = Interval> {
        (0_i64..40, 0_i64..40).prop_map(|(one, other)| Interval::new(one, other))
    }

    proptest! {
        #[test]
        fn every_nanosecond_of_it_that_another_holds(
            others in prop::collection::vec(interval(), 0..8),
            asked in interval(),
        ) {
            let held = |time: i64| others.iter().any(|other| other.start_ns <= time && time < other.end_ns);
            let by_counting = (asked.start_ns..asked.end_ns).filter(|time| held(*time)).count() as i64;
            prop_assert_eq!(Cover::of(others.clone()).covered_ns(asked), by_counting);
        }
    }
}

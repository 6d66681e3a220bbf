//! Checks which times of a row can be true.

use crate::schema::facts::ProcessFacts;

/// A day in nanoseconds: the maximum distance of a valid time from its process.
const TOLERANCE_NS: i64 = 86_400 * 1_000_000_000;

/// Latest valid time, whatever end a process has recorded: 73 years, longer than any clock has run. Sums of durations
/// then stay far below the largest integer.
const LATEST_NS: i64 = 1 << 61;

/// Bounds for the times of one process, on its clock.
#[derive(Clone, Copy, Debug)]
pub struct Validity {
    earliest_ns: i64,
    latest_ns: i64,
    /// Maximum distance between times of another clock.
    spread_ns: i64,
}

impl Validity {
    /// Bounds from the recorded start and end of a process; an unknown side is not bounded.
    pub fn from_facts(facts: &ProcessFacts) -> Self {
        Self {
            earliest_ns: facts.start_ns.map_or(1, |start| start.saturating_sub(TOLERANCE_NS)).max(1),
            latest_ns: facts.end_ns.map_or(LATEST_NS, |end| end.saturating_add(TOLERANCE_NS)).min(LATEST_NS),
            spread_ns: facts
                .start_ns
                .zip(facts.end_ns)
                .map_or(0, |(start, end)| end.saturating_sub(start).max(0))
                .saturating_add(TOLERANCE_NS),
        }
    }

    /// Whether a row has times that are possible on some clock, but not on the clock of the process.
    pub fn is_elsewhere(self, start_ns: i64, end_ns: i64) -> bool {
        !self.holds(start_ns, end_ns) && start_ns >= 1 && end_ns >= start_ns && end_ns <= LATEST_NS
    }

    /// Bounds for rows of a table on another clock than the process, such as a clock that did not count while the
    /// machine slept. Most rows then lie elsewhere, close to each other. `elsewhere` has their starts, and `here` is
    /// the number of rows on the clock of the process.
    pub fn of_other_clock(self, mut elsewhere: Vec<i64>, here: usize) -> Option<Self> {
        let rows = elsewhere.len() + here;
        if elsewhere.len() <= here {
            return None;
        }
        let middle = elsewhere.len() / 2;
        let (_, median, _) = elsewhere.select_nth_unstable(middle);
        let median = *median;
        let other = Self {
            earliest_ns: median.saturating_sub(self.spread_ns).max(1),
            latest_ns: median.saturating_add(self.spread_ns).min(LATEST_NS),
            ..self
        };
        let close = elsewhere.iter().filter(|start| other.holds(**start, **start)).count();
        (close > rows - close).then_some(other)
    }

    /// Whether a row with these times is valid: a positive start, an end not before it, both within the bounds.
    pub fn holds(self, start_ns: i64, end_ns: i64) -> bool {
        start_ns >= self.earliest_ns && end_ns >= start_ns && end_ns <= self.latest_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_a_day_around_the_process() {
        let day = TOLERANCE_NS;
        let facts = ProcessFacts { start_ns: Some(2 * day), end_ns: Some(3 * day), ..ProcessFacts::default() };
        let validity = Validity::from_facts(&facts);
        assert!(validity.holds(day, 4 * day));
        assert!(!validity.holds(day - 1, 2 * day));
        assert!(!validity.holds(day, 4 * day + 1));
        assert!(validity.holds(2 * day, 2 * day));
        assert!(!validity.holds(2 * day + 1, 2 * day));
    }

    #[test]
    fn rows_that_are_mostly_elsewhere_are_on_another_clock() {
        let day = TOLERANCE_NS;
        let facts = ProcessFacts { start_ns: Some(10 * day), end_ns: Some(11 * day), ..ProcessFacts::default() };
        let validity = Validity::from_facts(&facts);
        assert!(validity.is_elsewhere(13 * day, 13 * day + 5) && validity.is_elsewhere(5, 5));
        assert!(!validity.is_elsewhere(10 * day, 10 * day) && !validity.is_elsewhere(0, 5));
        assert!(!validity.is_elsewhere(13 * day, 12 * day) && !validity.is_elsewhere(13 * day, LATEST_NS + 1));
        let other = validity.of_other_clock(vec![20 * day, 20 * day + 7, 21 * day, 50 * day], 1).unwrap();
        assert!(
            other.holds(20 * day, 21 * day) && !other.holds(50 * day, 50 * day) && !other.holds(10 * day, 10 * day)
        );
        // Equally many are on the clock of the process, or they have nothing in common.
        assert!(validity.of_other_clock(vec![20 * day, 20 * day], 2).is_none());
        assert!(validity.of_other_clock(vec![20 * day, 30 * day, 40 * day], 0).is_none());
        assert!(validity.of_other_clock(Vec::new(), 0).is_none());
    }

    #[test]
    fn without_process_times_only_the_row_counts() {
        let validity = Validity::from_facts(&ProcessFacts::default());
        assert!(validity.holds(1, LATEST_NS));
        assert!(!validity.holds(1, LATEST_NS + 1));
        assert!(!validity.holds(0, 5));
        assert!(!validity.holds(-3, 5));
    }
}

//! Which times of a row can be true.

use crate::schema::facts::ProcessFacts;

/// A day in nanoseconds: how far outside its process a time may lie before it is held to be wrong.
const TOLERANCE_NS: i64 = 86_400 * 1_000_000_000;

/// Latest time that is believed, whatever end a process has recorded: 73 years, more than any clock has run. Sums of
/// durations then stay far from the end of the integers.
const LATEST_NS: i64 = 1 << 61;

/// Bounds for the times of one process.
#[derive(Clone, Copy, Debug)]
pub struct Validity {
    earliest_ns: i64,
    latest_ns: i64,
}

impl Validity {
    /// Bounds from the recorded start and end of a process; an unknown side is not bounded.
    pub fn from_facts(facts: &ProcessFacts) -> Self {
        Self {
            earliest_ns: facts.start_ns.map_or(1, |start| start.saturating_sub(TOLERANCE_NS)).max(1),
            latest_ns: facts.end_ns.map_or(LATEST_NS, |end| end.saturating_add(TOLERANCE_NS)).min(LATEST_NS),
        }
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
    fn without_process_times_only_the_row_counts() {
        let validity = Validity::from_facts(&ProcessFacts::default());
        assert!(validity.holds(1, LATEST_NS));
        assert!(!validity.holds(1, LATEST_NS + 1));
        assert!(!validity.holds(0, 5));
        assert!(!validity.holds(-3, 5));
    }
}

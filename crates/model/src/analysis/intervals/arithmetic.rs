//! Arithmetic on half-open time intervals `[start_ns, end_ns)`.
//!
//! Everything that needs the time covered by overlapping events goes through here, so that
//! "covered" means the same in every table. Any `i64` is accepted: lengths saturate at
//! `i64::MAX` instead of overflowing, and an interval whose end is not after its start covers nothing.

/// An interval from `start_ns` (inside) to `end_ns` (outside), in nanoseconds of any clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Interval {
    /// First nanosecond inside.
    pub start_ns: i64,
    /// First nanosecond after.
    pub end_ns: i64,
}

impl Interval {
    /// The interval `[start_ns, end_ns)`; it covers nothing unless `start_ns < end_ns`.
    pub const fn new(start_ns: i64, end_ns: i64) -> Self {
        Self { start_ns, end_ns }
    }

    /// Whether it covers nothing: zero length or reversed.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end_ns <= self.start_ns
    }

    /// Length in nanoseconds, 0 when empty, at most `i64::MAX`.
    #[must_use]
    pub fn length_ns(self) -> i64 {
        to_signed(self.unsigned_length_ns())
    }

    /// The part common to both, `None` if they do not overlap.
    #[must_use]
    pub fn overlap(self, other: Self) -> Option<Self> {
        let common = Self::new(self.start_ns.max(other.start_ns), self.end_ns.min(other.end_ns));
        (!common.is_empty()).then_some(common)
    }

    /// The distance between two `i64` always fits in a `u64`, and so does the sum over disjoint intervals.
    pub(super) const fn unsigned_length_ns(self) -> u64 {
        if self.is_empty() { 0 } else { self.end_ns.abs_diff(self.start_ns) }
    }
}

pub(super) fn to_signed(length: u64) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Merges intervals in any order into the sorted, disjoint, non-adjacent intervals that cover the same time.
///
/// This is the *merged* form.
pub fn union(intervals: impl IntoIterator<Item = Interval>) -> Vec<Interval> {
    let mut sorted: Vec<Interval> = intervals.into_iter().filter(|interval| !interval.is_empty()).collect();
    // Only the start has to be in order; the stable sort is linear on rows that already are.
    sorted.sort_by_key(|interval| interval.start_ns);
    sorted.dedup_by(|next, merged| {
        let touches = next.start_ns <= merged.end_ns;
        if touches {
            merged.end_ns = merged.end_ns.max(next.end_ns);
        }
        touches
    });
    sorted
}

#[cfg(test)]
mod tests;

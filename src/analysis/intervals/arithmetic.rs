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
    #[must_use]
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

    /// The part common to both, `None` when there is none.
    #[must_use]
    pub fn overlap(self, other: Self) -> Option<Self> {
        let common = Self::new(self.start_ns.max(other.start_ns), self.end_ns.min(other.end_ns));
        (!common.is_empty()).then_some(common)
    }

    /// The distance between two `i64` always fits in a `u64`, and so does the sum over disjoint intervals.
    const fn unsigned_length_ns(self) -> u64 {
        if self.is_empty() { 0 } else { self.end_ns.abs_diff(self.start_ns) }
    }
}

fn to_signed(length: u64) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Merges intervals in any order into the sorted, disjoint, non-adjacent intervals that cover the same time.
///
/// This is the *merged* form that [`intersection`], [`difference`] and [`total_length_ns`] expect.
#[must_use]
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

/// Time in nanoseconds covered by at least one of the intervals, given in any order; at most `i64::MAX`.
#[must_use]
pub fn union_length_ns(intervals: impl IntoIterator<Item = Interval>) -> i64 {
    total_length_ns(&union(intervals))
}

/// Sum of the lengths in nanoseconds, at most `i64::MAX`. For a merged list this is the time it covers.
#[must_use]
pub fn total_length_ns(intervals: &[Interval]) -> i64 {
    let total = intervals.iter().fold(0_u64, |total, interval| total.saturating_add(interval.unsigned_length_ns()));
    to_signed(total)
}

/// The time covered by both merged lists, as a merged list.
#[must_use]
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
#[must_use]
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

#[cfg(test)]
mod tests;

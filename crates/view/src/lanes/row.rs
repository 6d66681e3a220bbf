//! A row of a lane: events that do not overlap, with sums at growing widths.

use super::event::Event;
use super::sums::summed;

/// Width of the finest sums.
pub const FIRST_WIDTH_NS: i64 = 1 << 10;
/// The factor from one width to the next.
const FACTOR: i64 = 4;
/// Number of events that need no sums.
const FEW: usize = 512;

/// Events in order that do not overlap.
#[derive(Debug, Default)]
pub struct Row {
    /// Widths of sums and events; the first has width 0 and all events.
    levels: Vec<(i64, Vec<Event>)>,
}

impl Row {
    /// A row of events in order.
    pub fn new(events: Vec<Event>) -> Self {
        let end_ns = events.last().map_or(0, Event::end_ns);
        let span_ns = events.first().map_or(0, |first| end_ns.saturating_sub(first.start_ns));
        let mut levels = vec![(0, events)];
        let mut width_ns = FIRST_WIDTH_NS;
        while let Some((_, last)) = levels.last().filter(|(_, last)| last.len() > FEW && width_ns < span_ns) {
            let sums = summed(last, width_ns);
            // Without a gain, the finer level serves wider requests as well.
            if sums.len() * 4 < last.len() * 3 {
                levels.push((width_ns, sums));
            }
            width_ns = width_ns.saturating_mul(FACTOR);
        }
        Self { levels }
    }

    /// A row of events in order that are only joined, never summed up: a value holds until the next one.
    pub fn exact(events: Vec<Event>) -> Self {
        Self { levels: vec![(0, events)] }
    }

    /// All events.
    pub fn all(&self) -> &[Event] {
        self.levels.first().map(|(_, events)| events.as_slice()).unwrap_or_default()
    }

    /// Number of stored events and sums.
    pub fn stored(&self) -> usize {
        self.levels.iter().map(|(_, events)| events.len()).sum()
    }

    /// Events and sums that touch `[start_ns, end_ns)`, where events as long as `width_ns` are exact; and the width below
    /// which events are summed up.
    pub fn between(&self, start_ns: i64, end_ns: i64, width_ns: i64) -> (&[Event], i64) {
        let fitting = self.levels.iter().rev().find(|(width, _)| *width <= width_ns);
        let Some((width, events)) = fitting else { return (&[], 0) };
        let mut first = events.partition_point(|event| event.start_ns < start_ns);
        // Events do not overlap, so of the earlier ones only the last can reach into the range.
        if first.checked_sub(1).and_then(|place| events.get(place)).is_some_and(|event| event.end_ns() > start_ns) {
            first -= 1;
        }
        let last = events.partition_point(|event| event.start_ns < end_ns).max(first);
        (events.get(first..last).unwrap_or_default(), *width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_what_touches_it_at_its_width() {
        let event = |at: i64| Event::one((at * 100, at * 100 + 60), at, 1, 1, 0);
        let row = Row::new((0..100_000).map(event).collect());
        let (exact, width) = row.between(1_050, 1_201, 100);
        assert_eq!((exact.iter().map(|event| event.id).collect::<Vec<_>>(), width), (vec![10, 11, 12], 0));
        let (exact, _) = row.between(1_060, 1_100, 1);
        assert!(exact.is_empty());
        let (sums, width) = row.between(0, 10_000_000, 10_000);
        assert_eq!(width, 4_096);
        assert_eq!(sums.iter().map(|sum| u64::from(sum.count)).sum::<u64>(), 100_000);
        assert!(sums.len() < 3_000, "{}", sums.len());
        assert!(row.stored() < 115_000);
        assert_eq!(Row::new(Vec::new()).between(0, 1, 1).0, []);
    }
}

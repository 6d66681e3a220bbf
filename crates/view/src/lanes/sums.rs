//! Sums of short events by bins of equal width.

use super::event::Event;

/// The sums of a bin while it is filled.
#[derive(Default)]
struct Bin {
    number: i64,
    /// By kind, in the order of first starts.
    sums: Vec<Event>,
}

impl Bin {
    fn add(&mut self, event: &Event) {
        match self.sums.iter_mut().find(|sum| sum.kind == event.kind) {
            Some(sum) => *sum = sum.added(event),
            None => self.sums.push(*event),
        }
    }

    /// Places the sums one after the other. They end before the next event starts: from the first start of each on, no
    /// more time is covered than passes.
    fn place(&mut self, placed: &mut Vec<Event>) {
        for sum in self.sums.drain(..) {
            let free_ns = placed.last().map_or(i64::MIN, Event::end_ns);
            placed.push(Event { start_ns: sum.start_ns.max(free_ns), ..sum });
        }
    }
}

/// The same events with those shorter than `width_ns` summed up by bins of this width and kinds. Counts and covered times
/// stay; a sum is as long as the time that it covers. Events come in order and do not overlap, and neither do sums.
pub fn summed(events: &[Event], width_ns: i64) -> Vec<Event> {
    let width_ns = width_ns.max(1);
    let mut placed = Vec::new();
    let mut bin = Bin::default();
    for event in events {
        let number = event.start_ns.div_euclid(width_ns);
        let is_long = event.length_ns >= width_ns;
        if is_long || number != bin.number {
            bin.place(&mut placed);
            bin.number = number;
        }
        if is_long {
            placed.push(*event);
        } else {
            bin.add(event);
        }
    }
    bin.place(&mut placed);
    placed
}

/// Length of joined neighbors, in widths.
const MAX_WIDTHS: i64 = 4;

/// Joins short neighbors of one kind that are closer than `width_ns`, up to four times as long.
pub fn joined(events: impl IntoIterator<Item = Event>, width_ns: i64) -> Vec<Event> {
    let mut kept: Vec<Event> = Vec::new();
    // Whether the last one consists of short events.
    let mut is_open = false;
    for event in events {
        let is_short = event.length_ns < width_ns;
        match kept.last_mut() {
            Some(last)
                if is_open
                    && is_short
                    && last.kind == event.kind
                    && event.start_ns.saturating_sub(last.end_ns()) < width_ns
                    && event.end_ns().saturating_sub(last.start_ns) <= width_ns.saturating_mul(MAX_WIDTHS) =>
            {
                *last = last.joined(&event);
            }
            _ => kept.push(event),
        }
        is_open = is_short;
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn row(lengths: &[(i64, i64, u16)]) -> Vec<Event> {
        let mut at_ns = -20;
        let one = |(id, (gap, length, kind)): (usize, &(i64, i64, u16))| {
            let start_ns = at_ns + gap;
            at_ns = start_ns + length;
            Event::one((start_ns, at_ns), id as i64, u32::from(*kind), *kind, 7)
        };
        lengths.iter().enumerate().map(one).collect()
    }

    fn totals(events: &[Event]) -> BTreeMap<u16, (u32, i64)> {
        let mut totals = BTreeMap::new();
        for event in events {
            let total = totals.entry(event.kind).or_insert((0, 0));
            *total = (total.0 + event.count, total.1 + event.busy_ns);
        }
        totals
    }

    proptest! {
        #[test]
        fn sums_keep_counts_and_times_and_do_not_overlap(
            lengths in prop::collection::vec((0_i64..9, 0_i64..14, 0_u16..4), 0..120), power in 0_u32..7,
        ) {
            let events = row(&lengths);
            let width_ns = 1 << power;
            let once = summed(&events, width_ns);
            let twice = summed(&once, width_ns * 4);
            let merged = joined(twice.iter().copied(), width_ns * 4);
            for (kept, width_ns) in [(&once, width_ns), (&twice, width_ns * 4), (&merged, width_ns * 4)] {
                prop_assert_eq!(totals(kept), totals(&events));
                prop_assert!(kept.windows(2).all(|two| two[0].end_ns() <= two[1].start_ns), "{:?}", kept);
                for long in events.iter().filter(|event| event.length_ns >= width_ns) {
                    prop_assert!(kept.contains(long));
                }
                // Covered time up to any point moves by less than a bin.
                for at_ns in (-20..200).step_by(3) {
                    let until = |events: &[Event]| events.iter().filter(|event| event.length_ns > 0)
                        .map(|event| (event.end_ns().min(at_ns) - event.start_ns).max(0) * event.busy_ns / event.length_ns)
                        .sum::<i64>();
                    if !std::ptr::eq(kept, &merged) {
                        prop_assert!((until(kept) - until(&events)).abs() <= 2 * width_ns);
                    }
                }
            }
        }
    }
}

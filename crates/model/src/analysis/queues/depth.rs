//! How many dispatches wait in queues, and how many run, at every moment.

use crate::analysis::intervals::{Interval, Joined};

/// A dispatch of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Its queue, of queues numbered from 0.
    pub queue: u32,
    /// Time of issue in raw nanoseconds; a dispatch that starts earlier counts as issued at its start.
    pub issued_ns: i64,
    /// Time of the start.
    pub start_ns: i64,
    /// Time of the end.
    pub end_ns: i64,
}

/// An interval in which nothing changes in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueInterval {
    pub queue: u32,
    /// Its start in raw nanoseconds.
    pub start_ns: i64,
    /// Its end, always after the start.
    pub end_ns: i64,
    /// Dispatches issued but not started.
    pub waiting: i64,
    /// Dispatches started but not ended.
    pub running: i64,
}

/// Intervals of all queues, sorted by (queue, start). The intervals of a queue tile the time from its first issue to
/// its last end, neighbors differ, and an empty queue is an interval of zeros. Work that ends before it starts is
/// ignored.
///
/// Takes `O(n log n)`, and linear time if the work of a queue comes in order.
pub fn each_interval(work: impl IntoIterator<Item = Work>, mut emit: impl FnMut(QueueInterval)) {
    let mut queues: Vec<Changes> = Vec::new();
    for work in work.into_iter().filter(|work| work.start_ns <= work.end_ns) {
        let queue = work.queue as usize;
        if queue >= queues.len() {
            queues.resize_with(queue + 1, Changes::default);
        }
        let Some(changes) = queues.get_mut(queue) else { continue };
        changes.issued_ns.push(work.issued_ns.min(work.start_ns));
        changes.started_ns.push(work.start_ns);
        changes.ended_ns.push(work.end_ns);
    }
    for (queue, changes) in (0..).zip(queues) {
        changes.each_interval(queue, &mut emit);
    }
}

/// Times of changes in a queue.
#[derive(Default)]
struct Changes {
    issued_ns: Vec<i64>,
    started_ns: Vec<i64>,
    ended_ns: Vec<i64>,
}

impl Changes {
    fn each_interval(self, queue: u32, emit: &mut impl FnMut(QueueInterval)) {
        let sorted = |mut times: Vec<i64>| {
            // Sorted runs only need to be merged.
            times.sort();
            times.into_iter().peekable()
        };
        let (mut issued, mut started, mut ended) =
            (sorted(self.issued_ns), sorted(self.started_ns), sorted(self.ended_ns));
        let (mut waiting, mut running) = (0_i64, 0_i64);
        let mut tiles = Joined::new(|Interval { start_ns, end_ns }, (waiting, running): (i64, i64)| {
            emit(QueueInterval { queue, start_ns, end_ns, waiting, running });
        });
        let mut reached: Option<i64> = None;
        while let Some(time_ns) = [issued.peek(), started.peek(), ended.peek()].into_iter().flatten().min().copied() {
            // Nothing was issued before the first change.
            if let Some(start_ns) = reached {
                tiles.push(start_ns, time_ns, (waiting, running));
            }
            reached = Some(time_ns);
            while issued.next_if_eq(&time_ns).is_some() {
                waiting += 1;
            }
            while started.next_if_eq(&time_ns).is_some() {
                (waiting, running) = (waiting - 1, running + 1);
            }
            while ended.next_if_eq(&time_ns).is_some() {
                running -= 1;
            }
        }
        tiles.finish();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_moment_is_as_defined(rows in prop::collection::vec((0_u32..2, 0_i64..20, 0_i64..9, -1_i64..9), 0..12)) {
            let work: Vec<Work> = rows
                .iter()
                .map(|(queue, issued, wait, length)| {
                    let start_ns = issued + wait - 2;
                    Work { queue: *queue, issued_ns: *issued, start_ns, end_ns: start_ns + length }
                })
                .collect();
            let mut intervals = Vec::new();
            each_interval(work.iter().copied(), |interval| intervals.push(interval));
            for pair in intervals.windows(2).filter(|pair| pair[0].queue == pair[1].queue) {
                prop_assert_eq!(pair[0].end_ns, pair[1].start_ns);
                prop_assert_ne!((pair[0].waiting, pair[0].running), (pair[1].waiting, pair[1].running));
            }
            for queue in 0..2 {
                let of_queue: Vec<&Work> =
                    work.iter().filter(|work| work.queue == queue && work.start_ns <= work.end_ns).collect();
                let first = of_queue.iter().map(|work| work.issued_ns.min(work.start_ns)).min().unwrap_or(0);
                let last = of_queue.iter().map(|work| work.end_ns).max().unwrap_or(0);
                for time in -5..50 {
                    let at = intervals.iter().find(|at| at.queue == queue && at.start_ns <= time && time < at.end_ns);
                    let waiting = of_queue.iter().filter(|work| work.issued_ns <= time && time < work.start_ns).count();
                    let running = of_queue.iter().filter(|work| work.start_ns <= time && time < work.end_ns).count();
                    let expected = (first <= time && time < last).then_some((waiting as i64, running as i64));
                    prop_assert_eq!(at.map(|at| (at.waiting, at.running)), expected, "queue {} at {}", queue, time);
                }
            }
        }
    }
}

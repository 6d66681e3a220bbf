//! How much waits in queues, and how much of it runs, at every moment.

/// A dispatch of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Its queue.
    pub queue: u32,
    /// When it was issued, in raw nanoseconds; one that starts before is issued at its start.
    pub issued_ns: i64,
    /// When it started.
    pub start_ns: i64,
    /// When it ended.
    pub end_ns: i64,
}

/// A stretch of time in which nothing changes in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The queue.
    pub queue: u32,
    /// Its start in raw nanoseconds.
    pub start_ns: i64,
    /// Its end, always after the start.
    pub end_ns: i64,
    /// Dispatches issued and not started.
    pub waiting: i64,
    /// Dispatches started and not ended.
    pub running: i64,
}

/// Stretches of all queues, sorted by (queue, start). Those of a queue tile the time from its first issue to its last end,
/// neighbours differ, and an empty queue is a stretch of zeros. Work that ends before it starts takes part in nothing.
///
/// Takes `O(n log n)`.
pub fn each_stretch(work: impl IntoIterator<Item = Work>, mut emit: impl FnMut(Stretch)) {
    let work = work.into_iter();
    let mut changes: Vec<(u32, i64, Change)> = Vec::with_capacity(work.size_hint().0.saturating_mul(3));
    for work in work.filter(|work| work.start_ns <= work.end_ns) {
        changes.push((work.queue, work.issued_ns.min(work.start_ns), Change::Issued));
        changes.push((work.queue, work.start_ns, Change::Started));
        changes.push((work.queue, work.end_ns, Change::Ended));
    }
    changes.sort_unstable_by_key(|(queue, time_ns, _)| (*queue, *time_ns));
    for of_queue in changes.chunk_by(|one, other| one.0 == other.0) {
        let (mut waiting, mut running) = (0_i64, 0_i64);
        let mut pending: Option<Stretch> = None;
        let mut reached_ns = i64::MIN;
        for &(queue, time_ns, change) in of_queue {
            // Before the first change nothing was issued yet.
            if reached_ns < time_ns && reached_ns > i64::MIN {
                let next = Stretch { queue, start_ns: reached_ns, end_ns: time_ns, waiting, running };
                match &mut pending {
                    Some(last) if (last.waiting, last.running) == (waiting, running) => last.end_ns = time_ns,
                    last => {
                        if let Some(done) = last.replace(next) {
                            emit(done);
                        }
                    }
                }
            }
            reached_ns = time_ns;
            match change {
                Change::Issued => waiting += 1,
                Change::Started => (waiting, running) = (waiting - 1, running + 1),
                Change::Ended => running -= 1,
            }
        }
        if let Some(done) = pending {
            emit(done);
        }
    }
}

#[derive(Clone, Copy)]
enum Change {
    Issued,
    Started,
    Ended,
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
            let mut stretches = Vec::new();
            each_stretch(work.iter().copied(), |stretch| stretches.push(stretch));
            for pair in stretches.windows(2).filter(|pair| pair[0].queue == pair[1].queue) {
                prop_assert_eq!(pair[0].end_ns, pair[1].start_ns);
                prop_assert_ne!((pair[0].waiting, pair[0].running), (pair[1].waiting, pair[1].running));
            }
            for queue in 0..2 {
                let of_queue: Vec<&Work> =
                    work.iter().filter(|work| work.queue == queue && work.start_ns <= work.end_ns).collect();
                let first = of_queue.iter().map(|work| work.issued_ns.min(work.start_ns)).min().unwrap_or(0);
                let last = of_queue.iter().map(|work| work.end_ns).max().unwrap_or(0);
                for time in -5..50 {
                    let at = stretches.iter().find(|at| at.queue == queue && at.start_ns <= time && time < at.end_ns);
                    let waiting = of_queue.iter().filter(|work| work.issued_ns <= time && time < work.start_ns).count();
                    let running = of_queue.iter().filter(|work| work.start_ns <= time && time < work.end_ns).count();
                    let expected = (first <= time && time < last).then_some((waiting as i64, running as i64));
                    prop_assert_eq!(at.map(|at| (at.waiting, at.running)), expected, "queue {} at {}", queue, time);
                }
            }
        }
    }
}

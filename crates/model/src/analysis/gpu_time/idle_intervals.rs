//! When a GPU ran no kernel: intervals in which it was idle, and intervals in which it only copied.

use crate::analysis::intervals::Interval;

/// One valid kernel or copy on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// End in raw nanoseconds.
    pub end_ns: i64,
    /// Its row in the table of kernels or of copies.
    pub row: u32,
    pub is_copy: bool,
}

impl Work {
    const fn takes_time(&self) -> bool {
        self.start_ns < self.end_ns
    }
}

/// An interval without kernels on one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleInterval {
    /// Time of the interval.
    pub time: Interval,
    /// Whether at least one copy ran at every moment of it; otherwise nothing ran at any moment.
    pub copies: bool,
    /// Row of the kernel that ended last before it.
    pub kernel_before: Option<u32>,
    /// Place in the given work of the kernel or copy that started last before it.
    pub before: Option<usize>,
    /// Place of the first kernel after it.
    pub kernel_after: Option<usize>,
    /// Place of the kernel or copy that ends it; after copies, of the next kernel.
    pub after: Option<usize>,
}

/// Emits the intervals of *one* GPU within a span in order, from work sorted by start.
///
/// They are as long as possible: neighbors differ in whether copies run, or kernels run between them. Together with the
/// time in which kernels run they tile the span. Work without length and reversed work are ignored. All streams count:
/// a stream that waits while another works does not make an interval.
///
/// Takes linear time.
pub fn each_interval(work: &[Work], span: Interval, emit: impl FnMut(IdleInterval)) {
    let mut sweep = Sweep {
        work,
        reached_ns: span.start_ns,
        kernels_until_ns: i64::MIN,
        copies_until_ns: i64::MIN,
        kernel_before: None,
        before: None,
        next_kernel: 0,
        open: None,
        emit,
    };
    for (place, item) in work.iter().enumerate().filter(|(_, item)| item.takes_time()) {
        sweep.until(item.start_ns.min(span.end_ns), Some(place));
        sweep.begin(place, item);
    }
    sweep.until(span.end_ns, None);
    sweep.close();
}

struct Sweep<'a, F> {
    work: &'a [Work],
    reached_ns: i64,
    kernels_until_ns: i64,
    copies_until_ns: i64,
    kernel_before: Option<u32>,
    before: Option<usize>,
    next_kernel: usize,
    open: Option<IdleInterval>,
    emit: F,
}

impl<F: FnMut(IdleInterval)> Sweep<'_, F> {
    /// Advances to a time before which nothing else starts.
    fn until(&mut self, time_ns: i64, after: Option<usize>) {
        let without_kernels_ns = self.reached_ns.max(self.kernels_until_ns);
        let idle_ns = without_kernels_ns.max(self.copies_until_ns);
        self.push(without_kernels_ns, idle_ns.min(time_ns), true, after);
        self.push(idle_ns, time_ns, false, after);
        self.reached_ns = self.reached_ns.max(time_ns);
    }

    fn begin(&mut self, place: usize, item: &Work) {
        if item.is_copy {
            self.copies_until_ns = self.copies_until_ns.max(item.end_ns);
        } else if item.end_ns >= self.kernels_until_ns {
            self.kernels_until_ns = item.end_ns;
            self.kernel_before = Some(item.row);
        }
        self.before = Some(place);
    }

    fn push(&mut self, start_ns: i64, end_ns: i64, copies: bool, after: Option<usize>) {
        let time = Interval::new(start_ns, end_ns);
        if time.is_empty() {
            return;
        }
        match &mut self.open {
            Some(open) if open.copies == copies && open.time.end_ns == start_ns => open.time.end_ns = end_ns,
            _ => {
                self.close();
                let (kernel_before, before) = (self.kernel_before, self.before);
                self.open = Some(IdleInterval { time, copies, kernel_before, before, kernel_after: None, after });
            }
        }
    }

    fn close(&mut self) {
        let Some(mut interval) = self.open.take() else { return };
        let is_earlier = |item: &Work| item.is_copy || !item.takes_time() || item.start_ns < interval.time.end_ns;
        while self.work.get(self.next_kernel).is_some_and(is_earlier) {
            self.next_kernel += 1;
        }
        interval.kernel_after = (self.next_kernel < self.work.len()).then_some(self.next_kernel);
        if interval.copies {
            interval.after = interval.kernel_after;
        }
        (self.emit)(interval);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::intervals::{difference, total_length_ns, union};

    fn intervals(work: &[Work], span: Interval) -> Vec<IdleInterval> {
        let mut all = Vec::new();
        each_interval(work, span, |interval| all.push(interval));
        all
    }

    fn work() -> impl Strategy<Value = Vec<Work>> {
        let item = (0_i64..60, -1_i64..12, any::<bool>());
        prop::collection::vec(item, 0..20).prop_map(|mut items| {
            items.sort_by_key(|(start_ns, _, _)| *start_ns);
            let items = (0_u32..).zip(items);
            items
                .map(|(row, (start_ns, length, is_copy))| Work { start_ns, end_ns: start_ns + length, row, is_copy })
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn they_are_the_time_without_kernels(work in work(), lead in 0_i64..3, tail in 0_i64..3) {
            let end_ns = work.iter().map(|item| item.end_ns.max(item.start_ns)).max().unwrap_or(60);
            let span = Interval::new(-lead, end_ns + tail);
            let found = intervals(&work, span);
            let covered = |copies: bool| union(
                work.iter().filter(|item| item.is_copy == copies).map(|item| Interval::new(item.start_ns, item.end_ns)),
            );
            let quiet = difference(&union([span]), &covered(false));
            let idle = difference(&quiet, &covered(true));
            let copying = difference(&quiet, &idle);
            let times = |copies: bool| {
                found.iter().filter(|interval| interval.copies == copies).map(|interval| interval.time).collect::<Vec<_>>()
            };
            prop_assert_eq!(times(false), idle);
            prop_assert_eq!(times(true), copying);
            prop_assert_eq!(found.iter().map(|interval| interval.time.length_ns()).sum::<i64>(), total_length_ns(&quiet));
        }

        #[test]
        fn neighbours_are_those_around(work in work()) {
            let end_ns = work.iter().map(|item| item.end_ns.max(item.start_ns)).max().unwrap_or(60);
            let timed = |item: &&Work| item.start_ns < item.end_ns;
            for interval in intervals(&work, Interval::new(0, end_ns)) {
                let Interval { start_ns, end_ns } = interval.time;
                let last_end = work
                    .iter()
                    .filter(timed)
                    .filter(|item| !item.is_copy && item.start_ns < start_ns)
                    .map(|item| item.end_ns)
                    .max();
                let before = interval.kernel_before.map(|row| work[row as usize].end_ns);
                prop_assert_eq!(before, last_end);
                prop_assert!(before.is_none_or(|before_ns| before_ns <= start_ns));
                let next_kernel = work.iter().filter(timed).find(|item| !item.is_copy && item.start_ns >= end_ns);
                prop_assert_eq!(interval.kernel_after.map(|place| work[place]), next_kernel.copied());
                if interval.copies {
                    prop_assert_eq!(interval.after, interval.kernel_after);
                } else {
                    let next = work.iter().filter(timed).find(|item| item.start_ns >= end_ns);
                    prop_assert_eq!(interval.after.map(|place| work[place]), next.copied());
                }
            }
        }
    }

    #[test]
    fn another_stream_fills_a_gap() {
        let item = |start_ns, end_ns, row| Work { start_ns, end_ns, row, is_copy: false };
        let on_two_streams = [item(0, 10, 0), item(5, 32, 1), item(30, 40, 2)];
        assert_eq!(intervals(&on_two_streams, Interval::new(0, 40)), []);
    }
}

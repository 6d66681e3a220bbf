//! When kernels of two categories ran at the same time on one GPU.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::analysis::intervals::Interval;

/// A kernel of some category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CategoryWork {
    /// When it ran.
    pub time: Interval,
    /// Dense number of its category.
    pub category: u32,
}

/// An interval in which one category ran, or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Overlap {
    /// The longest possible interval.
    pub time: Interval,
    pub category: u32,
    /// Another category with a higher number, or the same one if two of its kernels ran. `None`: at least one kernel of
    /// `category` ran.
    pub other: Option<u32>,
}

/// Emits the intervals of *one* GPU in which kernels of each category ran, and of each two categories, from kernels
/// sorted by start. Intervals of the same categories come in order and neither overlap nor touch.
///
/// Takes `O(n (log n + categories))`.
pub fn each_overlap(work: &[CategoryWork], emit: impl FnMut(Overlap)) {
    let categories = work.iter().map(|item| item.category as usize + 1).max().unwrap_or(0);
    let mut sweep = Sweep { lanes: vec![Lane::default(); categories], pending: BTreeMap::new(), emit };
    let mut ends: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    for item in work.iter().filter(|item| !item.time.is_empty()) {
        while let Some(&Reverse((end_ns, category))) = ends.peek()
            && end_ns <= item.time.start_ns
        {
            sweep.end(category, end_ns);
            ends.pop();
        }
        sweep.begin(item.category, item.time.start_ns);
        ends.push(Reverse((item.time.end_ns, item.category)));
    }
    while let Some(Reverse((end_ns, category))) = ends.pop() {
        sweep.end(category, end_ns);
    }
    sweep.finish();
}

/// How many kernels of a category run, and since when at least one and two.
#[derive(Clone, Copy, Default)]
struct Lane {
    running: usize,
    since_ns: i64,
    two_since_ns: i64,
}

struct Sweep<F> {
    lanes: Vec<Lane>,
    /// The last interval of each kind, with which the next one may be joined.
    pending: BTreeMap<(u32, Option<u32>), Interval>,
    emit: F,
}

impl<F: FnMut(Overlap)> Sweep<F> {
    fn begin(&mut self, category: u32, time_ns: i64) {
        let Some(lane) = self.lanes.get_mut(category as usize) else { return };
        lane.running += 1;
        match lane.running {
            1 => lane.since_ns = time_ns,
            2 => lane.two_since_ns = time_ns,
            _ => {}
        }
    }

    fn end(&mut self, category: u32, time_ns: i64) {
        let Some(lane) = self.lanes.get_mut(category as usize) else { return };
        lane.running = lane.running.saturating_sub(1);
        let ended = *lane;
        match ended.running {
            0 => self.close(category, None, ended.since_ns, time_ns),
            1 => return self.close(category, Some(category), ended.two_since_ns, time_ns),
            _ => return,
        }
        for other in (0_u32..).take(self.lanes.len()) {
            let Some(lane) = self.lanes.get(other as usize).filter(|lane| lane.running > 0) else { continue };
            let since_ns = lane.since_ns.max(ended.since_ns);
            self.close(category.min(other), Some(category.max(other)), since_ns, time_ns);
        }
    }

    fn close(&mut self, category: u32, other: Option<u32>, start_ns: i64, end_ns: i64) {
        let time = Interval::new(start_ns, end_ns);
        if time.is_empty() {
            return;
        }
        match self.pending.get_mut(&(category, other)) {
            Some(pending) if pending.end_ns == start_ns => pending.end_ns = end_ns,
            Some(pending) => {
                let done = std::mem::replace(pending, time);
                (self.emit)(Overlap { time: done, category, other });
            }
            None => {
                self.pending.insert((category, other), time);
            }
        }
    }

    fn finish(mut self) {
        for ((category, other), time) in std::mem::take(&mut self.pending) {
            (self.emit)(Overlap { time, category, other });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::intervals::{intersection, union};

    fn at_once(work: &[CategoryWork], category: u32, least: usize) -> Vec<Interval> {
        let runs = |moment: i64| {
            let running = work
                .iter()
                .filter(|item| item.category == category && item.time.start_ns <= moment && moment < item.time.end_ns);
            running.count() >= least
        };
        union((-1..80).filter(|moment| runs(*moment)).map(|moment| Interval::new(moment, moment + 1)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn they_are_what_both_cover(items in prop::collection::vec((0_i64..50, -1_i64..15, 0_u32..4), 0..20)) {
            let mut work: Vec<CategoryWork> = items
                .into_iter()
                .map(|(start, length, category)| CategoryWork { time: Interval::new(start, start + length), category })
                .collect();
            work.sort_by_key(|item| item.time.start_ns);
            let mut found = Vec::new();
            each_overlap(&work, |overlap| found.push(overlap));
            let times = |category: u32, other: Option<u32>| -> Vec<Interval> {
                let of_both = found.iter().filter(|overlap| (overlap.category, overlap.other) == (category, other));
                of_both.map(|overlap| overlap.time).collect()
            };
            for category in 0..4 {
                prop_assert_eq!(times(category, None), at_once(&work, category, 1));
                prop_assert_eq!(times(category, Some(category)), at_once(&work, category, 2));
                for other in category + 1..4 {
                    let both = intersection(&at_once(&work, category, 1), &at_once(&work, other, 1));
                    prop_assert_eq!(times(category, Some(other)), both);
                    prop_assert_eq!(times(other, Some(category)), []);
                }
            }
        }
    }
}

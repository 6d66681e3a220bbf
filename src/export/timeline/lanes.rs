//! Slices of a track that overlap get lanes of their own: a viewer nests what is on one lane, and bends what does not nest.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Lanes of slices that never nest: each gets the lowest lane that is free at its start.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    busy: BinaryHeap<Reverse<(i64, usize)>>,
    free: BTreeSet<usize>,
    count: usize,
}

impl Lanes {
    /// The lane of a slice; slices come in the order of their starts.
    pub(super) fn place(&mut self, start_ns: i64, end_ns: i64) -> usize {
        while let Some(Reverse((ends_ns, lane))) =
            self.busy.peek().copied().filter(|Reverse((ends, _))| *ends <= start_ns)
        {
            let _ = ends_ns;
            self.busy.pop();
            self.free.insert(lane);
        }
        let lane = self.free.pop_first().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.busy.push(Reverse((end_ns, lane)));
        lane
    }
}

/// Divides slices into lanes on each of which they nest; slices come by start, the longest first. Gives the lane of each.
pub(super) fn nested(slices: impl Iterator<Item = (i64, i64)>) -> Vec<usize> {
    // The open slices of each lane, the innermost last.
    let mut lanes: Vec<Vec<i64>> = Vec::new();
    slices
        .map(|(start_ns, end_ns)| {
            for open in &mut lanes {
                while open.last().is_some_and(|ends_ns| *ends_ns <= start_ns) {
                    open.pop();
                }
            }
            let fits = |open: &Vec<i64>| open.last().is_none_or(|ends_ns| end_ns <= *ends_ns);
            let lane = lanes.iter().position(fits).unwrap_or(lanes.len());
            if lane == lanes.len() {
                lanes.push(Vec::new());
            }
            if let Some(open) = lanes.get_mut(lane) {
                open.push(end_ns);
            }
            lane
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_lane_is_taken() {
        let mut lanes = Lanes::default();
        let placed = [(0, 10), (5, 8), (8, 20), (10, 11), (11, 30)].map(|(start, end)| lanes.place(start, end));
        assert_eq!(placed, [0, 1, 1, 0, 0]);
    }

    #[test]
    fn what_does_not_nest_has_another_lane() {
        let placed = nested([(0, 100), (10, 50), (20, 60), (50, 90), (95, 120)].into_iter());
        assert_eq!(placed, [0, 0, 1, 0, 1]);
    }
}

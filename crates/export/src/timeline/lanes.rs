//! Lanes for overlapping slices of a track. A viewer nests the slices of one lane, and distorts those that do not nest.

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
        while let Some(lane) = self.busy.peek().filter(|next| next.0.0 <= start_ns).map(|next| next.0.1) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_lane_is_taken() {
        let mut lanes = Lanes::default();
        let placed = [(0, 10), (5, 8), (8, 20), (10, 11), (11, 30)].map(|(start, end)| lanes.place(start, end));
        assert_eq!(placed, [0, 1, 1, 0, 0]);
    }
}

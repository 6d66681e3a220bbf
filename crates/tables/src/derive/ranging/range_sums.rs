//! Sums over the work launched in ranges.

use super::range_forest::RangeForest;
use crate::derive::launching::launched_work::Launched;

impl RangeForest {
    /// Sums over each range, nested ranges included, of values of the items in [`LaunchedWork::launched`].
    pub(crate) fn sums_over(&self, values: &[i128]) -> Vec<i128> {
        let mut sums = vec![0_i128; self.ranges.len()];
        for (value, range) in values.iter().zip(&self.range_of) {
            if let Some(sum) = sums.get_mut(*range as usize) {
                *sum += value;
            }
        }
        for (position, range) in self.ranges.iter().enumerate().rev() {
            let own = sums.get(position).copied().unwrap_or_default();
            if let Some(sum) = range.parent.and_then(|parent| sums.get_mut(parent as usize)) {
                *sum += own;
            }
        }
        if !self.ranges.iter().any(|range| range.of_process) {
            return sums;
        }
        // Work of ranges of the process is what any thread launches in them.
        let call_ns = |launched: &Launched| Some(self.work.calls.at(launched.call()?)?.start_ns);
        let launches = self.work.launched.iter().zip(values);
        let mut launches: Vec<(i64, i128)> =
            launches.filter_map(|(launched, value)| Some((call_ns(launched)?, *value))).collect();
        launches.sort_unstable();
        let mut sum = 0;
        let sums_before: Vec<i128> = std::iter::once(0)
            .chain(launches.iter().map(|(_, value)| {
                sum += value;
                sum
            }))
            .collect();
        let before = |bound_ns: i64| {
            let place = launches.partition_point(|(time_ns, _)| *time_ns < bound_ns);
            sums_before.get(place).copied().unwrap_or_default()
        };
        for (range, sum) in self.ranges.iter().zip(&mut sums).filter(|(range, _)| range.of_process) {
            *sum = before(range.extent.end_ns) - before(range.extent.start_ns);
        }
        sums
    }
}

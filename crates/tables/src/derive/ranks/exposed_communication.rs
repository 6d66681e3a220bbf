//! The part of communication that no compute kernel hides.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::values::{BoolValues, FrameValues};
use wavesieve_model::analysis::intervals::coverage::Coverage;
use wavesieve_model::analysis::intervals::{Interval, union};

/// The part of each communication kernel in which no valid compute kernel runs on its GPU.
pub fn exposed_ns(found: &DataFrame, kernels: &DataFrame, communicates: &BooleanChunked) -> Result<Vec<i64>> {
    if found.height() == 0 {
        return Ok(Vec::new());
    }
    let computes = &!communicates & kernels.column("valid")?.bool()?;
    let mut by_gpu: BTreeMap<Option<i64>, Vec<Interval>> = BTreeMap::new();
    for ((gpu, interval), computes) in on_gpus(kernels)?.zip(BoolValues::new(&computes).iter()) {
        if computes == Some(true) && !interval.is_empty() {
            add(by_gpu.entry(gpu).or_default(), interval);
        }
    }
    let covered = |(gpu, merged)| (gpu, Coverage::of_merged(union(merged)));
    let by_gpu: BTreeMap<Option<i64>, Coverage> = by_gpu.into_iter().map(covered).collect();
    let exposed = |(gpu, interval): (Option<i64>, Interval)| {
        let hidden_ns = by_gpu.get(&gpu).map_or(0, |hidden| hidden.between_ns(interval.start_ns, interval.end_ns));
        interval.length_ns().saturating_sub(hidden_ns)
    };
    Ok(on_gpus(found)?.map(exposed).collect())
}

/// Adds an interval to others; intervals in the order of their starts are merged as they come.
fn add(intervals: &mut Vec<Interval>, interval: Interval) {
    match intervals.last_mut() {
        Some(last) if (last.start_ns..=last.end_ns).contains(&interval.start_ns) => {
            last.end_ns = last.end_ns.max(interval.end_ns);
        }
        _ => intervals.push(interval),
    }
}

/// GPU and time of every kernel; a kernel without times covers nothing.
fn on_gpus(kernels: &DataFrame) -> Result<impl Iterator<Item = (Option<i64>, Interval)>> {
    let [gpus, starts, ends] = kernels.integers(["gpu", "start_ns", "end_ns"])?;
    Ok((0..kernels.height()).map(move |row| {
        let interval = Interval::new(starts.get(row).unwrap_or_default(), ends.get(row).unwrap_or_default());
        (gpus.get(row), interval)
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn added_in_any_order_they_cover_the_same(bounds in prop::collection::vec((0_i64..40, 1_i64..9), 0..12)) {
            let all: Vec<Interval> = bounds.iter().map(|(start, length)| Interval::new(*start, start + length)).collect();
            let mut added = Vec::new();
            all.iter().for_each(|interval| add(&mut added, *interval));
            prop_assert_eq!(union(added), union(all));
        }
    }
}

//! Kernels and copies of a process with the API calls that launched them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use polars::prelude::*;

use crate::columns::values::{FrameValues, I64Values};
use crate::derive::launching::launching_calls::LaunchingCalls;
use crate::derive::{Frames, needed};
use wavesieve_model::analysis::ranges::tree::Extent;

const NO_CALL: u32 = u32::MAX;

/// A valid kernel or copy. There are many, so rarely needed values are looked up by row.
#[derive(Clone, Copy)]
pub struct Launched {
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// End in raw nanoseconds.
    pub end_ns: i64,
    /// Row in `kernels` or `memory_copies`.
    row: u32,
    /// Number of the call that launched it, or [`NO_CALL`].
    call: u32,
    pub is_copy: bool,
}

impl Launched {
    /// Number of the call that launched it, if it was recorded.
    pub fn call(&self) -> Option<u32> {
        Some(self.call).filter(|call| *call != NO_CALL)
    }

    /// Row in `kernels` or `memory_copies`.
    pub fn row(&self) -> usize {
        self.row as usize
    }
}

/// Kernels and copies summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub kernels: i64,
    /// Sum of their durations.
    pub kernel_ns: i64,
    pub copies: i64,
    /// Sum of their durations.
    pub copy_ns: i64,
    /// First start and last end of both.
    pub gpu: Option<(i64, i64)>,
}

impl Work {
    /// Adds a kernel or copy.
    pub fn add(&mut self, launched: &Launched) {
        let duration_ns = launched.end_ns.saturating_sub(launched.start_ns);
        let (count, sum_ns) = if launched.is_copy {
            (&mut self.copies, &mut self.copy_ns)
        } else {
            (&mut self.kernels, &mut self.kernel_ns)
        };
        *count = count.saturating_add(1);
        *sum_ns = sum_ns.saturating_add(duration_ns);
        self.extend((launched.start_ns, launched.end_ns));
    }

    fn extend(&mut self, (start_ns, end_ns): (i64, i64)) {
        self.gpu = Some(self.gpu.map_or((start_ns, end_ns), |(first, last)| (first.min(start_ns), last.max(end_ns))));
    }

    /// Adds other work.
    pub fn join(&mut self, other: &Self) {
        self.kernels = self.kernels.saturating_add(other.kernels);
        self.kernel_ns = self.kernel_ns.saturating_add(other.kernel_ns);
        self.copies = self.copies.saturating_add(other.copies);
        self.copy_ns = self.copy_ns.saturating_add(other.copy_ns);
        if let Some(gpu) = other.gpu {
            self.extend(gpu);
        }
    }
}

/// Columns of kernels or copies by their rows.
struct TargetColumns {
    ids: I64Values,
    gpus: I64Values,
}

/// The valid kernels and copies of a process, and the calls that launched them.
pub struct LaunchedWork {
    /// Kernels, then copies, in the order of their tables.
    pub launched: Vec<Launched>,
    pub calls: LaunchingCalls,
    kernels: TargetColumns,
    copies: TargetColumns,
    /// The launches in order of time, once they are needed.
    over_time: OnceLock<LaunchesOverTime>,
}

impl LaunchedWork {
    /// Finds the calls of all kernels and copies.
    ///
    /// # Errors
    /// When a needed column is missing or has another type, or there are more rows than can be numbered.
    pub(crate) fn from_frames(tables: &Frames) -> Result<Self> {
        let calls = LaunchingCalls::from_frames(tables)?;
        let (kernels, copies) = (needed(tables, "kernels")?, needed(tables, "memory_copies")?);
        let mut launched = Vec::with_capacity(kernels.height().saturating_add(copies.height()));
        let kernels = add_launched(kernels, "dispatch_id", false, &calls, &mut launched)?;
        let copies = add_launched(copies, "copy_id", true, &calls, &mut launched)?;
        Ok(Self { launched, calls, kernels, copies, over_time: OnceLock::new() })
    }

    fn columns_of(&self, launched: &Launched) -> &TargetColumns {
        if launched.is_copy { &self.copies } else { &self.kernels }
    }

    /// Key in `kernels` or `memory_copies`.
    pub fn id(&self, launched: &Launched) -> i64 {
        self.columns_of(launched).ids.get(launched.row as usize).unwrap_or_default()
    }

    /// Index of the GPU.
    pub fn gpu(&self, launched: &Launched) -> Option<i64> {
        self.columns_of(launched).gpus.get(launched.row as usize)
    }

    /// Numbers and starts of the calls that launched something, by thread, without duplicates.
    pub fn launching_calls(&self) -> BTreeMap<i64, Vec<(u32, i64)>> {
        let mut launches = vec![false; self.calls.numbers()];
        for call in self.launched.iter().filter_map(Launched::call) {
            if let Some(slot) = launches.get_mut(call as usize) {
                *slot = true;
            }
        }
        let mut by_thread: BTreeMap<i64, Vec<(u32, i64)>> = BTreeMap::new();
        for (number, _) in (0_u32..).zip(&launches).filter(|(_, launches)| **launches) {
            if let Some((call, tid)) = self.calls.at(number).and_then(|call| Some((call, call.tid?))) {
                by_thread.entry(tid).or_default().push((number, call.start_ns));
            }
        }
        by_thread
    }

    /// Work launched within each of some extents, by any thread.
    pub(crate) fn between_each(&self, extents: &[Extent]) -> Vec<Work> {
        if extents.len() > FEW {
            let over_time = self.over_time.get_or_init(|| self.launches_over_time());
            return extents.iter().map(|extent| over_time.between(*extent, &self.launched)).collect();
        }
        let mut sums = vec![Work::default(); extents.len()];
        let calls = self.launched.iter().filter(|_| !extents.is_empty());
        for (launched, call) in calls.filter_map(|launched| Some((launched, self.calls.at(launched.call()?)?))) {
            let within = |extent: &Extent| (extent.start_ns..extent.end_ns).contains(&call.start_ns);
            let of_extents = sums.iter_mut().zip(extents).filter(|(_, extent)| within(extent));
            of_extents.for_each(|(sum, _)| sum.add(launched));
        }
        sums
    }

    /// All launches in order of time, on any thread.
    fn launches_over_time(&self) -> LaunchesOverTime {
        let mut launches: Vec<(i64, u32)> = (0_u32..)
            .zip(&self.launched)
            .filter_map(|(row, launched)| Some((self.calls.at(launched.call()?)?.start_ns, row)))
            .collect();
        if !launches.is_sorted() {
            launches.sort_unstable();
        }
        LaunchesOverTime::new(launches, &self.launched)
    }
}

/// Number of extents up to which scanning all launches for each is faster than sorting them. Tests cover both ways.
const FEW: usize = if cfg!(test) { 1 } else { 16 };
/// Number of launches in a block.
const BLOCK: usize = 64;

/// Work in the order of its launches, summed up in blocks, pairs of blocks and so on.
struct LaunchesOverTime {
    /// Times of launch in raw nanoseconds, with positions of the launched work.
    launches: Vec<(i64, u32)>,
    levels: Vec<Vec<Work>>,
}

impl LaunchesOverTime {
    fn new(launches: Vec<(i64, u32)>, launched: &[Launched]) -> Self {
        let mut levels = vec![launches.chunks(BLOCK).map(|block| sum(block, launched)).collect::<Vec<Work>>()];
        while let Some(below) = levels.last().filter(|level| level.len() > 1) {
            let joined = |pair: &[Work]| {
                pair.iter().fold(Work::default(), |mut sum, work| {
                    sum.join(work);
                    sum
                })
            };
            levels.push(below.chunks(2).map(joined).collect());
        }
        Self { launches, levels }
    }

    /// Work launched within an extent, of the work that this was made of. Takes `O(log n)`.
    fn between(&self, extent: Extent, launched: &[Launched]) -> Work {
        let place = |bound_ns: i64| self.launches.partition_point(|(time_ns, _)| *time_ns < bound_ns);
        let (from, to) = (place(extent.start_ns), place(extent.end_ns));
        let some = |range: Range<usize>| sum(self.launches.get(range).unwrap_or_default(), launched);
        let (mut first, mut last) = (from.div_ceil(BLOCK), to / BLOCK);
        if first >= last {
            return some(from..to);
        }
        let mut sum = some(from..first * BLOCK);
        sum.join(&some(last * BLOCK..to));
        for level in &self.levels {
            if first >= last {
                break;
            }
            if first % 2 == 1 {
                level.get(first).into_iter().for_each(|work| sum.join(work));
                first += 1;
            }
            if last % 2 == 1 {
                last -= 1;
                level.get(last).into_iter().for_each(|work| sum.join(work));
            }
            (first, last) = (first / 2, last / 2);
        }
        sum
    }
}

fn sum(launches: &[(i64, u32)], launched: &[Launched]) -> Work {
    let mut sum = Work::default();
    launches.iter().filter_map(|(_, row)| launched.get(*row as usize)).for_each(|launched| sum.add(launched));
    sum
}

fn add_launched(
    frame: &DataFrame,
    key: &str,
    is_copy: bool,
    calls: &LaunchingCalls,
    launched: &mut Vec<Launched>,
) -> Result<TargetColumns> {
    u32::try_from(frame.height()).context("more kernels or copies than rows can be counted")?;
    let [ids, gpus, correlations] = frame.integers([key, "gpu", "correlation_id"])?;
    launched.reserve(frame.height());
    for (row, [_, start_ns, end_ns]) in frame.valid_rows([key, "start_ns", "end_ns"])? {
        let call = calls.get(correlations.get(row as usize)).map_or(NO_CALL, |call| call.row);
        launched.push(Launched { start_ns, end_ns, row, call, is_copy });
    }
    Ok(TargetColumns { ids, gpus })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_over_time_match_the_definition(
            rows in prop::collection::vec((0_i64..200, 0_i64..50, 0_i64..9, any::<bool>()), 0..600),
            bounds in prop::collection::vec((-5_i64..210, -5_i64..210), 1..20),
        ) {
            let launched: Vec<Launched> = rows
                .iter()
                .map(|(_, start_ns, length, is_copy)| Launched {
                    start_ns: *start_ns,
                    end_ns: start_ns + length,
                    row: 0,
                    call: NO_CALL,
                    is_copy: *is_copy,
                })
                .collect();
            let mut launches: Vec<(i64, u32)> = rows.iter().map(|row| row.0).zip(0..).collect();
            launches.sort_unstable();
            let over_time = LaunchesOverTime::new(launches, &launched);
            for (start_ns, end_ns) in bounds {
                let mut expected = Work::default();
                for (row, work) in rows.iter().zip(&launched) {
                    if (start_ns..end_ns).contains(&row.0) {
                        expected.add(work);
                    }
                }
                prop_assert_eq!(over_time.between(Extent { start_ns, end_ns }, &launched), expected);
            }
        }
    }
}

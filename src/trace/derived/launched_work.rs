//! Kernels and copies of a process with the API calls that launched them.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::Result;
use polars::prelude::*;

use super::range_forest::Work;
use super::{Frames, needed};
use crate::trace::call_index::{Call, CallIndex};
use crate::trace::frames::rows_named;
use crate::trace::range_tree::Extent;
use crate::trace::values::{Integers, Truths};

/// A valid kernel or copy.
#[derive(Clone, Copy)]
pub struct Launched {
    /// Whether it is a copy.
    pub is_copy: bool,
    /// Key in `kernels` or `memory_copies`.
    pub id: i64,
    /// Index of its GPU.
    pub gpu: Option<i64>,
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// End in raw nanoseconds.
    pub end_ns: i64,
    /// Position of the call that launched it, where it was recorded.
    pub call: Option<u32>,
}

/// The valid kernels and copies of a process, and its calls.
pub struct LaunchedWork {
    /// Kernels, then copies, in the order of their tables.
    pub launched: Vec<Launched>,
    /// Calls with a correlation id, ROCTx apart.
    pub calls: Vec<Call>,
    /// Threads by the numbers that calls have.
    threads: Vec<Option<i64>>,
}

impl LaunchedWork {
    /// Finds the calls of all kernels and copies.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn of(tables: &Frames) -> Result<Self> {
        let mut calls = Calls::default();
        let regions = needed(tables, "regions")?;
        calls.add(regions, "start_ns", Some(regions.column("valid")?.bool()?))?;
        calls.add(needed(tables, "marks")?, "time_ns", None)?;
        anyhow::ensure!(u32::try_from(calls.calls.len()).is_ok(), "more calls than can be counted");
        let index = CallIndex::of(&calls.calls);
        let mut launched = Vec::new();
        add_launched(needed(tables, "kernels")?, "dispatch_id", false, &index, &mut launched)?;
        add_launched(needed(tables, "memory_copies")?, "copy_id", true, &index, &mut launched)?;
        Ok(Self { launched, calls: calls.calls, threads: calls.threads })
    }

    /// Positions of the calls that launched something, by thread, each once.
    pub fn launching_calls(&self) -> BTreeMap<i64, Vec<u32>> {
        let mut launches = vec![false; self.calls.len()];
        for call in self.launched.iter().filter_map(|launched| launched.call) {
            if let Some(slot) = launches.get_mut(call as usize) {
                *slot = true;
            }
        }
        let mut by_thread: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for ((position, call), _) in (0_u32..).zip(&self.calls).zip(&launches).filter(|(_, launches)| **launches) {
            if let Some(Some(tid)) = self.threads.get(call.thread as usize) {
                by_thread.entry(*tid).or_default().push(position);
            }
        }
        by_thread
    }

    /// All that was launched by the time of launch, whatever the thread.
    pub fn over_time(&self) -> LaunchesOverTime<'_> {
        let mut launches: Vec<(i64, u32)> = (0_u32..)
            .zip(&self.launched)
            .filter_map(|(row, launched)| Some((self.calls.get(launched.call? as usize)?.start_ns, row)))
            .collect();
        if !launches.is_sorted() {
            launches.sort_unstable();
        }
        LaunchesOverTime::of(launches, &self.launched)
    }
}

/// Launches that are summed up together.
const BLOCK: usize = 64;

/// Work in the order of its launches, summed up in blocks, in pairs of blocks and so on.
pub struct LaunchesOverTime<'a> {
    launched: &'a [Launched],
    /// Times of launch in raw nanoseconds, with positions of what was launched.
    launches: Vec<(i64, u32)>,
    levels: Vec<Vec<Work>>,
}

impl<'a> LaunchesOverTime<'a> {
    fn of(launches: Vec<(i64, u32)>, launched: &'a [Launched]) -> Self {
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
        Self { launched, launches, levels }
    }

    /// What was launched within an extent. Takes `O(log n)`.
    pub fn between(&self, extent: Extent) -> Work {
        let place = |bound_ns: i64| self.launches.partition_point(|(time_ns, _)| *time_ns < bound_ns);
        let (from, to) = (place(extent.start_ns), place(extent.end_ns));
        let some = |range: Range<usize>| sum(self.launches.get(range).unwrap_or_default(), self.launched);
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

#[derive(Default)]
struct Calls {
    calls: Vec<Call>,
    threads: Vec<Option<i64>>,
    known: BTreeMap<Option<i64>, u32>,
}

impl Calls {
    fn add(&mut self, frame: &DataFrame, time: &str, valid: Option<&BooleanChunked>) -> Result<()> {
        let markers = Truths::of(&rows_named(frame.column("domain")?, |domain| domain == "marker")?);
        let ids = Integers::of(frame.column("correlation_id")?.i64()?);
        let times = Integers::of(frame.column(time)?.i64()?);
        let tids = Integers::of(frame.column("tid")?.i64()?);
        let valid = valid.map(Truths::of);
        let mut valid = valid.as_ref().map(Truths::iter);
        let mut last: Option<(Option<i64>, u32)> = None;
        for (((id, time), tid), marker) in ids.iter().zip(times.iter()).zip(tids.iter()).zip(markers.iter()) {
            let is_valid = valid.as_mut().is_none_or(|rows| rows.next().flatten() == Some(true));
            // Id 0 is that of none.
            let id = id.filter(|id| *id != 0);
            let (Some(correlation_id), Some(start_ns), true) = (id, time, is_valid && marker != Some(true)) else {
                continue;
            };
            let thread = match last {
                Some((known, thread)) if known == tid => thread,
                _ => {
                    let next = self.threads.len() as u32;
                    let thread = *self.known.entry(tid).or_insert(next);
                    if thread == next {
                        self.threads.push(tid);
                    }
                    thread
                }
            };
            last = Some((tid, thread));
            self.calls.push(Call { correlation_id, start_ns, thread });
        }
        Ok(())
    }
}

fn add_launched(
    frame: &DataFrame,
    key: &str,
    is_copy: bool,
    index: &CallIndex,
    launched: &mut Vec<Launched>,
) -> Result<()> {
    let keys = Integers::of(frame.column(key)?.i64()?);
    let gpus = Integers::of(frame.column("gpu")?.i64()?);
    let ids = Integers::of(frame.column("correlation_id")?.i64()?);
    let starts = Integers::of(frame.column("start_ns")?.i64()?);
    let ends = Integers::of(frame.column("end_ns")?.i64()?);
    let valid = Truths::of(frame.column("valid")?.bool()?);
    launched.reserve(frame.height());
    let rows = keys.iter().zip(gpus.iter()).zip(ids.iter()).zip(starts.iter()).zip(ends.iter()).zip(valid.iter());
    for (((((key, gpu), id), start), end), valid) in rows {
        if let (Some(key), Some(start_ns), Some(end_ns), Some(true)) = (key, start, end, valid) {
            let call = id.and_then(|id| index.position(id));
            launched.push(Launched { is_copy, id: key, gpu, start_ns, end_ns, call });
        }
    }
    Ok(())
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
                    is_copy: *is_copy,
                    id: 0,
                    gpu: None,
                    start_ns: *start_ns,
                    end_ns: start_ns + length,
                    call: None,
                })
                .collect();
            let mut launches: Vec<(i64, u32)> = rows.iter().map(|row| row.0).zip(0..).collect();
            launches.sort_unstable();
            let over_time = LaunchesOverTime::of(launches, &launched);
            for (start_ns, end_ns) in bounds {
                let mut expected = Work::default();
                for (row, work) in rows.iter().zip(&launched) {
                    if (start_ns..end_ns).contains(&row.0) {
                        expected.add(work);
                    }
                }
                prop_assert_eq!(over_time.between(Extent { start_ns, end_ns }), expected);
            }
        }
    }
}

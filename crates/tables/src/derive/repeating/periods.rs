//! The period of the sequence of kernels of a process, and its repetitions.

use std::ops::Range;
use std::rc::Rc;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::categorical;
use crate::columns::values::{FrameValues, I64Values, present_in};
use crate::derive::launching::kernel_order::KernelOrder;
use wavesieve_model::analysis::iterations::{Repetitions, repetitions};
use wavesieve_model::analysis::numbering::dense_groups::DenseGroups;
use wavesieve_model::analysis::numbering::value_order::order_of;
use wavesieve_model::analysis::thresholds::{RepetitionBounds, Thresholds};

fn bounds() -> &'static RepetitionBounds {
    &Thresholds::builtin().repetitions
}

const NONE: u32 = u32::MAX;

/// Columns of `kernels` in which a period is looked for.
pub(super) const COLUMNS: [&str; 11] = [
    "dispatch_id",
    "short_name",
    "gpu",
    "queue_id",
    "stream_id",
    "grid_x",
    "grid_y",
    "grid_z",
    "start_ns",
    "end_ns",
    "valid",
];

/// A repetition, or a step that encloses repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Start of its first kernel.
    pub start_ns: i64,
    /// Start of the next, or end of its last kernel.
    pub end_ns: i64,
    /// Kernels of the process that start in it.
    pub kernels: i64,
    /// Sum of their durations.
    pub kernel_ns: i64,
    /// Usual number of kernels of one in the sequence that repeats.
    pub period: i64,
}

impl Iteration {
    /// From its start to its end.
    pub fn duration_ns(&self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}

/// The valid kernels of a process in the order of their starts; all columns except the times are numbered in order of appearance.
pub(super) struct Kernels {
    pub start_ns: Vec<i64>,
    pub end_ns: Vec<i64>,
    /// Sum of the durations of the kernels before each, and of all.
    sums_ns: Vec<i64>,
    gpu: DenseGroups,
    queue: DenseGroups,
    stream: DenseGroups,
    pub name: DenseGroups,
    pub shape: DenseGroups,
    /// The rows in the order in which they were launched, if it differs.
    launched: Option<Vec<u32>>,
}

/// Consecutive kernels: of a GPU, or of one of its streams or queues.
pub(super) struct Lane {
    pub rows: Rc<[u32]>,
    of_gpu: bool,
    pub by_shape: bool,
}

impl Lane {
    fn repetitions(&self, sequence: &[u32]) -> Option<LaneRepetitions> {
        // A single repeated kernel is a loop, unless other kernels run next to it or its work differs every time.
        let repetitions = repetitions(sequence).filter(|found| found.period > 1 || self.of_gpu && self.by_shape)?;
        let within: usize = repetitions.ranges.iter().map(ExactSizeIterator::len).sum();
        Some(LaneRepetitions {
            covered: within as f64 / sequence.len() as f64,
            rows: Rc::clone(&self.rows),
            repetitions,
        })
    }
}

/// Repetitions of the kernels of a lane.
pub(super) struct LaneRepetitions {
    pub rows: Rc<[u32]>,
    pub repetitions: Repetitions,
    covered: f64,
}

impl LaneRepetitions {
    /// Score of how well the repetitions explain the lane. Parallel streams also repeat together, but less exactly.
    fn score(&self) -> f64 {
        self.covered * self.repetitions.alike
    }
}

impl Kernels {
    pub(super) fn from_frame(frame: &DataFrame, order: &KernelOrder) -> Result<Self> {
        let [ids, starts, ends] = frame.integers(["dispatch_id", "start_ns", "end_ns"])?;
        let valid = present_in(frame.truths("valid")?.are_true(), [&starts]);
        let rows: Option<Vec<u32>> = (order.moved().is_some() || valid.unset_bits() > 0)
            .then(|| order.rows().filter(|row| valid.get(*row as usize) == Some(true)).collect());
        let rows = rows.as_deref();
        let times = |column: &I64Values| -> Vec<i64> {
            let time = |row: &u32| column.get(*row as usize).unwrap_or_default();
            rows.map_or_else(
                || column.iter().map(Option::unwrap_or_default).collect(),
                |rows| rows.iter().map(time).collect(),
            )
        };
        let numbered = |name: &str| -> Result<DenseGroups> {
            let column = frame.integer(name)?;
            Ok(rows.map_or_else(|| column.kinds(), |rows| column.kinds_at(rows)))
        };
        let names = frame.column("short_name")?.as_materialized_series().cast(&categorical())?;
        let codes = names.cat32()?.physical().rechunk();
        let codes = codes.downcast_as_array();
        let code = |row: usize| codes.get(row).map(i64::from);
        let name = match rows {
            Some(rows) => DenseGroups::from_values(rows.iter().map(|row| code(*row as usize))),
            None => DenseGroups::from_values((0..codes.len()).map(code)),
        };
        let mut shape = name.clone();
        for side in ["grid_x", "grid_y", "grid_z"] {
            shape = shape.and(&numbered(side)?);
        }
        let (start_ns, end_ns) = (times(&starts), times(&ends));
        Ok(Self {
            sums_ns: sums_of_durations(&start_ns, &end_ns),
            start_ns,
            end_ns,
            gpu: numbered("gpu")?,
            queue: numbered("queue_id")?,
            stream: numbered("stream_id")?,
            name,
            shape,
            launched: order_of(&times(&ids)),
        })
    }

    /// Finds the period of the sequence and its repetitions; none without a period.
    pub(super) fn repetitions(&self) -> Option<LaneRepetitions> {
        let mut found: Option<LaneRepetitions> = None;
        let mut tried: Vec<u32> = Vec::new();
        for lane in self.lanes() {
            if found.as_ref().is_some_and(|found| {
                found.covered >= bounds().enough_of_lane && found.repetitions.alike >= bounds().enough_alike
            }) {
                break;
            }
            let sequence = self.sequence(&lane);
            // If every kernel has only one grid, names carry no more information than shapes.
            if sequence == tried {
                continue;
            }
            let best = found.as_ref().map_or(0.0, LaneRepetitions::score);
            found = lane.repetitions(&sequence).filter(|other| other.score() > best).or(found);
            tried = sequence;
        }
        found
    }

    /// Sum of the durations of all kernels.
    pub(super) fn total_ns(&self) -> i64 {
        self.kernel_ns(0..self.start_ns.len())
    }

    fn kernel_ns(&self, rows: Range<usize>) -> i64 {
        let before_ns = |row: usize| self.sums_ns.get(row).copied().unwrap_or_default();
        before_ns(rows.end).saturating_sub(before_ns(rows.start))
    }

    /// Sequences that may repeat, the likeliest first. First all kernels of the GPU with most kernels, in the order of their launches,
    /// which a program repeats even if its streams interleave differently, and in the order of their starts. Then the kernels of its
    /// busiest stream and queue. Each sequence is distinguished by name and grid, then by name.
    pub(super) fn lanes(&self) -> impl Iterator<Item = Lane> {
        let all: Vec<u32> = (0..self.start_ns.len() as u32).collect();
        let of_gpu = busiest(&all, &self.gpu);
        let of_stream = busiest(&of_gpu, &self.stream);
        let of_queue = busiest(&of_gpu, &self.queue);
        let launched = self.launched.as_ref().map(|launched| busiest(launched, &self.gpu));
        let mut lanes: Vec<(bool, Vec<u32>)> = launched.map(|rows| (true, rows)).into_iter().collect();
        lanes.push((true, of_gpu));
        for rows in [of_stream, of_queue] {
            if lanes.iter().all(|(_, lane)| lane.len() != rows.len()) {
                lanes.push((false, rows));
            }
        }
        lanes.into_iter().flat_map(|(of_gpu, rows)| {
            let rows: Rc<[u32]> = rows.into();
            [true, false].map(|by_shape| Lane { rows: Rc::clone(&rows), of_gpu, by_shape })
        })
    }

    /// The kernels of a lane as symbols numbered in order of appearance.
    fn sequence(&self, lane: &Lane) -> Vec<u32> {
        let symbols = if lane.by_shape { &self.shape } else { &self.name };
        let mut known = vec![NONE; symbols.count];
        let mut next = 0;
        let number = |symbol: &u32| {
            let number = known.get_mut(*symbol as usize)?;
            if *number == NONE {
                *number = next;
                next += 1;
            }
            Some(*number)
        };
        let of_rows = lane.rows.iter().filter_map(|row| symbols.of_rows.get(*row as usize));
        of_rows.filter_map(number).collect()
    }

    /// The repetitions as intervals, with all kernels of the process that start in each.
    pub(super) fn iterations(&self, found: &LaneRepetitions) -> Vec<Iteration> {
        let ranges = &found.repetitions.ranges;
        let mut iterations = Vec::with_capacity(ranges.len());
        for (place, range) in ranges.iter().enumerate() {
            let next = ranges.get(place + 1).filter(|next| next.start == range.end);
            let ends =
                next.map_or_else(|| self.end_of(&found.rows, range), |next| self.start_at(&found.rows, next.start));
            let (Some(start_ns), Some(end_ns)) = (self.start_at(&found.rows, range.start), ends) else { continue };
            iterations.push(self.iteration(start_ns, end_ns, i64::from(found.repetitions.period)));
        }
        iterations
    }

    /// Start of the kernel at a position among some rows.
    pub(super) fn start_at(&self, rows: &[u32], position: u32) -> Option<i64> {
        self.start_ns.get(*rows.get(position as usize)? as usize).copied()
    }

    /// First start of the kernels at some positions among some rows, which may be in the order of their launches.
    pub(super) fn first_start(&self, rows: &[u32], range: &Range<u32>) -> Option<i64> {
        let rows = rows.get(range.start as usize..range.end as usize)?;
        rows.iter().filter_map(|row| self.start_ns.get(*row as usize).copied()).min()
    }

    /// Last end of the kernels at some positions among some rows.
    pub(super) fn end_of(&self, rows: &[u32], range: &Range<u32>) -> Option<i64> {
        let rows = rows.get(range.start as usize..range.end as usize)?;
        rows.iter().filter_map(|row| self.end_ns.get(*row as usize).copied()).max()
    }

    /// The kernels that start in an interval, as a repetition.
    pub(super) fn iteration(&self, start_ns: i64, end_ns: i64, period: i64) -> Iteration {
        // Later work outside all repetitions may have started while the last kernel of one ran.
        let begun = self.start_ns.partition_point(|time_ns| *time_ns < start_ns);
        let over = self.start_ns.partition_point(|time_ns| *time_ns < end_ns);
        let rows = begun..over.max(begun);
        let kernels = rows.len() as i64;
        Iteration { start_ns, end_ns, kernels, kernel_ns: self.kernel_ns(rows), period }
    }

    /// How many of the kernels from the first to the last of some steps are in one of them, and all of these.
    pub(super) fn within(&self, times_ns: &[(i64, i64)]) -> (usize, usize) {
        let within: i64 = self.steps(times_ns).iter().map(|step| step.kernels).sum();
        let ends = times_ns.first().zip(times_ns.iter().map(|(_, end_ns)| *end_ns).max());
        let all = ends.map_or(0, |((start_ns, _), end_ns)| self.iteration(*start_ns, end_ns, 0).kernels);
        (within.unsigned_abs() as usize, all.unsigned_abs() as usize)
    }

    /// Steps whose work starts and ends at these times, in order. Each lasts until the next one starts, unless other kernels run before it.
    pub(super) fn steps(&self, times_ns: &[(i64, i64)]) -> Vec<Iteration> {
        let mut steps: Vec<Iteration> = Vec::with_capacity(times_ns.len());
        for (place, (start_ns, end_ns)) in times_ns.iter().enumerate() {
            let next_ns = times_ns.get(place + 1).map(|(next_ns, _)| *next_ns);
            let is_last_before = |next_ns: &i64| self.iteration(*end_ns, *next_ns, 0).kernels == 0;
            steps.push(self.iteration(*start_ns, next_ns.filter(is_last_before).unwrap_or(*end_ns), 0));
        }
        let mut counts: Vec<i64> = steps.iter().map(|step| step.kernels).collect();
        counts.sort_unstable();
        let usual = counts.get(counts.len() / 2).copied().unwrap_or_default();
        steps.iter_mut().for_each(|step| step.period = usual);
        steps
    }
}

/// Sum of the durations of the kernels before each, and of all: units may overlap, and each needs the sum of its own.
fn sums_of_durations(start_ns: &[i64], end_ns: &[i64]) -> Vec<i64> {
    let mut sums = Vec::with_capacity(start_ns.len() + 1);
    let mut sum = 0_i64;
    sums.push(sum);
    for (start, end) in start_ns.iter().zip(end_ns) {
        sum = sum.saturating_add(end.saturating_sub(*start));
        sums.push(sum);
    }
    sums
}

/// The rows with the most frequent key; the first of equals.
fn busiest(rows: &[u32], keys: &DenseGroups) -> Vec<u32> {
    if keys.count <= 1 {
        return rows.to_vec();
    }
    let key = |row: &u32| keys.of_rows.get(*row as usize).copied();
    let mut counts = vec![0_usize; keys.count];
    for row in rows {
        if let Some(count) = key(row).and_then(|key| counts.get_mut(key as usize)) {
            *count += 1;
        }
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let chosen = (0..).zip(&counts).find(|(_, count)| **count == most).map(|(key, _)| key);
    let mut busiest = Vec::with_capacity(most);
    busiest.extend(rows.iter().copied().filter(|row| key(row) == chosen));
    busiest
}

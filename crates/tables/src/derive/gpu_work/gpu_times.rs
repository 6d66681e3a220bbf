//! `gpu_segments` summed up by kinds of work: a few rows per GPU, which the manifest of a dataset also stores.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::DataFrame;
use serde::{Deserialize, Serialize};

use crate::columns::frames::{integers, part, pieces};
use crate::columns::values::FrameValues;
use crate::derive::device_of;
use wavesieve_model::analysis::gpu_time::segments::Segment;
use wavesieve_model::schema::process::Process;

/// All segments of one GPU during which the same kinds of work ran, idle ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuTime {
    /// Index among the GPUs of the process.
    pub gpu: i64,
    /// Whether a compute kernel ran.
    pub compute: bool,
    /// Whether a communication kernel ran.
    pub comm: bool,
    /// Whether a copy ran.
    pub copies: bool,
    /// First start in ns.
    pub first_ns: i64,
    /// Last end in ns.
    pub last_ns: i64,
    /// Sum of the lengths in ns.
    pub duration_ns: i64,
}

/// Number of kinds of work that may run at the same time.
const KINDS: usize = 3;
/// Sums of one GPU, by the combination of kinds that ran.
type GpuTotals = [Option<GpuTime>; 1 << KINDS];

/// Segments of one process being summed up.
#[derive(Default)]
pub struct GpuTimes {
    others: BTreeMap<i64, GpuTotals>,
    /// The GPU of the last segment, which is usually also the GPU of the next.
    last: Option<(i64, GpuTotals)>,
}

impl GpuTimes {
    pub fn add(&mut self, segment: &Segment) {
        let (compute, comm, copies) = (segment.compute > 0, segment.comm > 0, segment.copies > 0);
        let (gpu, first_ns, last_ns) = (segment.gpu, segment.start_ns, segment.end_ns);
        if self.last.as_ref().is_none_or(|(last, _)| *last != gpu) {
            self.put_back();
            self.last = Some((gpu, self.others.remove(&gpu).unwrap_or_default()));
        }
        let place = (usize::from(compute) << 2) | (usize::from(comm) << 1) | usize::from(copies);
        let Some(sum) = self.last.as_mut().and_then(|(_, sums)| sums.get_mut(place)) else { return };
        let none = GpuTime { gpu, compute, comm, copies, first_ns, last_ns, duration_ns: 0 };
        let sum = sum.get_or_insert(none);
        sum.first_ns = sum.first_ns.min(first_ns);
        sum.last_ns = sum.last_ns.max(last_ns);
        sum.duration_ns = sum.duration_ns.saturating_add(last_ns.saturating_sub(first_ns));
    }

    fn put_back(&mut self) {
        self.others.extend(self.last.take());
    }

    /// The sums in the order of (gpu, compute, comm, copies).
    pub fn finish(mut self) -> Vec<GpuTime> {
        self.put_back();
        self.others.into_values().flatten().flatten().collect()
    }
}

/// Name of the derived table of work on the GPUs.
pub const GPU_SEGMENTS: &str = "gpu_segments";

/// The columns of `gpu_segments` that sums need.
pub const SUMMED_COLUMNS: [&str; 6] = ["gpu", "start_ns", "end_ns", "compute", "comm", "copies"];

/// Sums up rows of `gpu_segments` of one process.
pub fn gpu_times(segments: &DataFrame) -> Result<Vec<GpuTime>> {
    let mut times = GpuTimes::default();
    for piece in pieces(segments) {
        let [gpus, starts, ends, compute, comm, copies] = part(segments, &piece).integers(SUMMED_COLUMNS)?;
        for (gpu, start, end, compute, comm, copies) in
            izip!(gpus.iter(), starts.iter(), ends.iter(), compute.iter(), comm.iter(), copies.iter())
        {
            let (Some(gpu), Some(start_ns), Some(end_ns)) = (gpu, start, end) else { continue };
            let count = |count: Option<i64>| count.unwrap_or(0);
            let (compute, comm, copies) = (count(compute), count(comm), count(copies));
            times.add(&Segment { gpu, start_ns, end_ns, compute, comm, copies });
        }
    }
    Ok(times.finish())
}

/// Sums as rows of `gpu_segments` without `process` and `rank`: start is the first start, end is the last end, and the counts are 1 or 0.
pub(crate) fn summed_segments(times: &[GpuTime], process: &Process) -> Result<DataFrame> {
    let each = |name: &str, value: &dyn Fn(&GpuTime) -> Option<i64>| integers(name, times.iter().map(value));
    Ok(DataFrame::new_infer_height(vec![
        each("gpu", &|time| Some(time.gpu)),
        each("device", &|time| device_of(process, time.gpu)),
        each("start_ns", &|time| Some(time.first_ns)),
        each("end_ns", &|time| Some(time.last_ns)),
        each("duration_ns", &|time| Some(time.duration_ns)),
        each("compute", &|time| Some(i64::from(time.compute))),
        each("comm", &|time| Some(i64::from(time.comm))),
        each("copies", &|time| Some(i64::from(time.copies))),
    ])?)
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    #[test]
    fn by_gpu_and_kinds_of_work() {
        let segments = df!(
            "gpu" => [1_i64, 1, 1, 0],
            "start_ns" => [5_i64, 7, 9, 6],
            "end_ns" => [7_i64, 9, 10, 8],
            "compute" => [1_i64, 0, 3, 0],
            "comm" => [0_i64; 4],
            "copies" => [0_i64, 2, 0, 0],
        )
        .unwrap();
        let time = |gpu, (compute, copies), (first_ns, last_ns), duration_ns| GpuTime {
            gpu,
            compute,
            comm: false,
            copies,
            first_ns,
            last_ns,
            duration_ns,
        };
        assert_eq!(
            gpu_times(&segments).unwrap(),
            [time(0, (false, false), (6, 8), 2), time(1, (false, true), (7, 9), 2), time(1, (true, false), (5, 10), 3),]
        );
    }
}

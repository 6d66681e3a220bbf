//! The table `queue_depths`: how many dispatches wait and run in each queue.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::launching_calls::{LaunchingCalls, MARK_COLUMNS, calls_without_threads};
use super::{Frames, Needs, column, needed};
use crate::trace::identity::Process;
use crate::trace::queue_depth::{Stretch, Work, each_stretch};
use crate::trace::values::{Integers, Truths, integers};

/// GPU and queue; the stream where no queue is known.
type Queue = (Option<i64>, Option<i64>, Option<i64>);

/// The source columns that it is built from.
pub fn needs() -> Needs {
    let kernels = vec!["gpu", "queue_id", "stream_id", "correlation_id", "start_ns", "end_ns", "valid"];
    vec![("kernels", kernels), ("regions", calls_without_threads()), ("marks", MARK_COLUMNS.to_vec())]
}

/// Sweeps over the dispatches of each queue, from the end of the launching call on.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn build(process: &Process, tables: &Frames) -> Result<DataFrame> {
    let calls = LaunchingCalls::of(tables)?;
    let kernels = needed(tables, "kernels")?;
    let integer = |name: &str| -> Result<Integers> { Ok(Integers::of(kernels.column(name)?.i64()?)) };
    let (gpus, queues, streams) = (integer("gpu")?, integer("queue_id")?, integer("stream_id")?);
    let (ids, starts, ends) = (integer("correlation_id")?, integer("start_ns")?, integer("end_ns")?);
    let valid = Truths::of(kernels.column("valid")?.bool()?);
    let queue_of = || {
        let rows = gpus.iter().zip(queues.iter()).zip(streams.iter());
        rows.map(|((gpu, queue), stream)| (gpu, queue, stream.filter(|_| queue.is_none())))
    };
    // One after the other: there are few queues, and to collect them would sort them all.
    let mut numbers: BTreeMap<Queue, u32> = BTreeMap::new();
    for queue in queue_of() {
        numbers.insert(queue, 0);
    }
    for (number, place) in (0_u32..).zip(numbers.values_mut()) {
        *place = number;
    }
    let rows = queue_of().zip(ids.iter()).zip(starts.iter()).zip(ends.iter()).zip(valid.iter());
    let work = rows.filter_map(|((((queue, id), start), end), valid)| {
        let (start_ns, end_ns) = start.zip(end).filter(|_| valid == Some(true))?;
        let issued_ns = calls.get(id).map_or(start_ns, |call| call.end_ns);
        Some(Work { queue: numbers.get(&queue).copied()?, issued_ns, start_ns, end_ns })
    });
    let mut columns = DepthColumns::default();
    each_stretch(work, |stretch| columns.push(&stretch));
    let device_of: BTreeMap<i64, i64> = process.gpus.values().map(|gpu| (gpu.gpu, gpu.device)).collect();
    columns.into_frame(&numbers.into_keys().collect::<Vec<_>>(), &device_of)
}

/// The columns of `queue_depths`, filled stretch by stretch.
#[derive(Default)]
struct DepthColumns {
    queues: Vec<u32>,
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    waiting: Vec<i64>,
    running: Vec<i64>,
}

impl DepthColumns {
    fn push(&mut self, stretch: &Stretch) {
        self.queues.push(stretch.queue);
        self.start_ns.push(stretch.start_ns);
        self.end_ns.push(stretch.end_ns);
        self.waiting.push(stretch.waiting);
        self.running.push(stretch.running);
    }

    fn into_frame(self, queues: &[Queue], device_of: &BTreeMap<i64, i64>) -> Result<DataFrame> {
        let of_queue = |name: &str, part: &dyn Fn(&Queue) -> Option<i64>| {
            let values: Vec<Option<i64>> = queues.iter().map(part).collect();
            let of_rows = self.queues.iter().map(|queue| values.get(*queue as usize).copied().flatten());
            integers(name, of_rows).into_series().into_column()
        };
        let durations = self.start_ns.iter().zip(&self.end_ns).map(|(start, end)| end.saturating_sub(*start)).collect();
        Ok(DataFrame::new_infer_height(vec![
            of_queue("gpu", &|queue| queue.0),
            of_queue("device", &|queue| device_of.get(&queue.0?).copied()),
            of_queue("queue_id", &|queue| queue.1),
            of_queue("stream_id", &|queue| queue.2),
            column("start_ns", self.start_ns),
            column("end_ns", self.end_ns),
            column("duration_ns", durations),
            column("waiting", self.waiting),
            column("running", self.running),
        ])?)
    }
}

//! The table `queue_depths`: numbers of waiting and running dispatches in each queue.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::values::FrameValues;
use crate::derive::launching::launching_calls::{LaunchingCalls, MARK_COLUMNS, calls_without_threads};
use crate::derive::queueing::queue_lanes::queue_lanes;
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, WantedColumns, column, device_of, needed, repeated};
use wavesieve_model::analysis::queues::depth::{QueueInterval, Work, each_interval};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["kernels"]),
    ..DerivedTable::new(&tables::launching::QUEUE_DEPTHS, needs, Build::Alone(build))
};

/// One of its columns.
const DURATION: &str = "duration_ns";

/// GPU and queue; the stream if no queue is known.
type Queue = (Option<i64>, Option<i64>, Option<i64>);

fn needs() -> Needs {
    let kernels = vec!["gpu", "queue_id", "stream_id", "correlation_id", "start_ns", "end_ns", "valid"];
    vec![("kernels", kernels), ("regions", calls_without_threads()), ("marks", MARK_COLUMNS.to_vec())]
}

/// Sweeps over the dispatches of each queue, from the end of the launching call on.
fn build(process: &Process, tables: &Frames) -> Result<DataFrame> {
    let calls = LaunchingCalls::from_frames(tables)?;
    let kernels = needed(tables, "kernels")?;
    let [gpus, queues, streams, ids] = kernels.integers(["gpu", "queue_id", "stream_id", "correlation_id"])?;
    let lanes = queue_lanes(&gpus, &queues, &streams);
    // Lanes are numbered in order of appearance: the first row of each lane has the next number.
    let mut keys: Vec<(Queue, usize)> = Vec::with_capacity(lanes.count);
    for (row, number) in lanes.of_rows.iter().enumerate() {
        if *number as usize == keys.len() {
            let queue = queues.get(row);
            keys.push(((gpus.get(row), queue, streams.get(row).filter(|_| queue.is_none())), keys.len()));
        }
    }
    // Maps numbers in order of appearance to numbers in the order of the queues.
    keys.sort_unstable();
    let mut in_order = vec![0_u32; keys.len()];
    for (place, (_, number)) in (0..).zip(&keys) {
        if let Some(slot) = in_order.get_mut(*number) {
            *slot = place;
        }
    }
    let work = kernels.valid_rows(["start_ns", "end_ns"])?.filter_map(|(row, [start_ns, end_ns])| {
        let issued_ns = calls.get(ids.get(row as usize)).map_or(start_ns, |call| call.end_ns);
        let number = *lanes.of_rows.get(row as usize)?;
        Some(Work { queue: in_order.get(number as usize).copied()?, issued_ns, start_ns, end_ns })
    });
    let mut columns = DepthColumns::with_capacity(in_order.len(), kernels.height());
    each_interval(work, |interval| columns.push(&interval));
    columns.into_frame(&keys.into_iter().map(|(queue, _)| queue).collect::<Vec<_>>(), process, tables)
}

/// The columns of `queue_depths`, filled interval by interval, queue by queue.
struct DepthColumns {
    /// Number of intervals of each queue.
    of_queues: Vec<usize>,
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    waiting: Vec<i64>,
    running: Vec<i64>,
}

impl DepthColumns {
    fn with_capacity(queues: usize, dispatches: usize) -> Self {
        // Each dispatch is issued, starts and ends.
        let column = || Vec::with_capacity(dispatches.saturating_mul(3));
        let of_queues = vec![0; queues];
        Self { of_queues, start_ns: column(), end_ns: column(), waiting: column(), running: column() }
    }

    fn push(&mut self, interval: &QueueInterval) {
        if let Some(intervals) = self.of_queues.get_mut(interval.queue as usize) {
            *intervals += 1;
        }
        self.start_ns.push(interval.start_ns);
        self.end_ns.push(interval.end_ns);
        self.waiting.push(interval.waiting);
        self.running.push(interval.running);
    }

    fn into_frame(self, queues: &[Queue], process: &Process, tables: &Frames) -> Result<DataFrame> {
        let Self { of_queues, start_ns, end_ns, waiting, running } = self;
        let of_queue = |name: &str, part: &dyn Fn(&Queue) -> Option<i64>| {
            Ok(repeated(name, queues.iter().map(part).zip(of_queues.iter().copied())))
        };
        let durations: Option<Vec<i64>> = tables.wants(DECLARATION.table.name, DURATION).then(|| {
            let times = start_ns.iter().zip(&end_ns);
            times.map(|(start, end)| end.saturating_sub(*start)).collect()
        });
        let mut columns = WantedColumns::new(tables, DECLARATION.table.name);
        columns.add("gpu", |name| of_queue(name, &|queue| queue.0))?;
        columns.add("device", |name| of_queue(name, &|queue| device_of(process, queue.0?)))?;
        columns.add("queue_id", |name| of_queue(name, &|queue| queue.1))?;
        columns.add("stream_id", |name| of_queue(name, &|queue| queue.2))?;
        columns.add("start_ns", |name| Ok(column(name, start_ns)))?;
        columns.add("end_ns", |name| Ok(column(name, end_ns)))?;
        columns.add(DURATION, |name| Ok(column(name, durations.unwrap_or_default())))?;
        columns.add("waiting", |name| Ok(column(name, waiting)))?;
        columns.add("running", |name| Ok(column(name, running)))?;
        columns.into_frame()
    }
}

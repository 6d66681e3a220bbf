//! The table `dispatch_launches`: every dispatch with the times of its launch, ready to be grouped.

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;
use polars_arrow::bitmap::{Bitmap, MutableBitmap};

use crate::columns::values::FrameValues;
use crate::derive::launching::launching_calls::{LaunchingCalls, MARK_COLUMNS, calls_without_threads};
use crate::derive::queueing::queue_lanes::queue_lanes;
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, RowsWhen, column, needed};
use wavesieve_model::analysis::numbering::lane_ids::IdInterner;
use wavesieve_model::analysis::queues::order::{Dispatch, free_before};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    passthrough: PASSTHROUGH,
    owners: &[Owner::KERNEL],
    rows_when: RowsWhen::all(&["kernels"]),
    ..DerivedTable::new(&tables::launching::DISPATCH_LAUNCHES, needs, Build::Alone(build))
};

/// The column with the names of calls.
const API_NAME: &str = "api_name";
/// Columns of `kernels` that are copied, in the order of the table.
const TAKEN: [&str; 10] = [
    "dispatch_id",
    "kernel_id",
    "kernel_name",
    "short_name",
    "category",
    "gpu",
    "device",
    "queue_id",
    "stream_id",
    "tid",
];
/// Copied columns that no other column depends on. The table is built without them if they are not requested.
const PASSTHROUGH: &[&str] = &["kernel_id", "kernel_name", "short_name", "category", "device", "tid"];

/// The source columns that it needs.
pub fn needs() -> Needs {
    let kernels = [&TAKEN[..], &["correlation_id", "start_ns", "end_ns", "valid"]].concat();
    let copies = vec!["gpu", "peer_gpu", "start_ns", "end_ns", "valid"];
    vec![
        ("kernels", kernels),
        ("memory_copies", copies),
        ("regions", calls_without_threads()),
        ("marks", MARK_COLUMNS.to_vec()),
    ]
}

/// Looks up the call of every valid dispatch, and the time at which its queue and its GPU finished earlier work.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    of_tables(tables, tables.wants(DECLARATION.table.name, API_NAME))
}

/// The rows of valid dispatches in the order of `kernels`, with or without the names of calls.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn of_tables(tables: &Frames, names_calls: bool) -> Result<DataFrame> {
    let calls = LaunchingCalls::from_frames(tables)?;
    let (kernels, order) = tables.kernel_order()?.of_valid(needed(tables, "kernels")?)?;
    let [starts, ends, ids, gpus] = kernels.integers(["start_ns", "end_ns", "correlation_id", "gpu"])?;
    let mut gpu_numbers = IdInterner::default();
    let of_gpu: Vec<u32> = gpus.iter().map(|gpu| gpu_numbers.intern(gpu)).collect();
    let copies = copies_by_gpu(needed(tables, "memory_copies")?, &mut gpu_numbers)?;
    let of_queue = queue_lanes(&gpus, &kernels.integer("queue_id")?, &kernels.integer("stream_id")?).of_rows;
    let dispatch = |place: usize, lanes: &[u32]| Dispatch {
        lane: lanes.get(place).copied().unwrap_or_default(),
        start_ns: starts.get(place).unwrap_or_default(),
        end_ns: ends.get(place).unwrap_or_default(),
    };
    let rows = kernels.height();
    let queue_free = free_before(rows, |place| dispatch(place, &of_queue), order.moved(), Vec::new());
    let gpu_free = free_before(rows, |place| dispatch(place, &of_gpu), order.moved(), copies);
    let mut columns = LaunchColumns::with_capacity(rows);
    let dispatches = (0..rows).map(|place| dispatch(place, &of_queue));
    for (dispatch, id, queue_free, gpu_free) in izip!(dispatches, ids.iter(), queue_free, gpu_free) {
        let launch = calls.get(id).map(|call| {
            let prequeued = queue_free.is_some_and(|free_ns| free_ns > call.end_ns);
            let kernel_ns = dispatch.end_ns.saturating_sub(dispatch.start_ns);
            let idle_from_ns = gpu_free.map_or(call.start_ns, |free_ns| free_ns.max(call.start_ns));
            let exposed_ns = dispatch.start_ns.saturating_sub(idle_from_ns).max(0);
            Launch {
                call: call.row,
                api_ns: call.end_ns.saturating_sub(call.start_ns),
                queue_delay_ns: dispatch.start_ns.saturating_sub(call.end_ns),
                prequeued,
                exposed_ns,
                outlasted: kernel_ns < exposed_ns,
            }
        });
        columns.push(&dispatch, launch);
    }
    columns.judge();
    columns.into_frame(&kernels, &calls, names_calls)
}

/// The valid copies of known GPUs; a copy between two GPUs keeps both busy.
fn copies_by_gpu(copies: &DataFrame, numbers: &mut IdInterner<Option<i64>>) -> Result<Vec<Dispatch<u32>>> {
    let mut found = Vec::new();
    for gpu in ["gpu", "peer_gpu"] {
        let rows = copies.valid_rows([gpu, "start_ns", "end_ns"])?;
        found.extend(rows.map(|(_, [gpu, start_ns, end_ns])| {
            let lane = numbers.intern(Some(gpu));
            Dispatch { lane, start_ns, end_ns }
        }));
    }
    Ok(found)
}

struct Launch {
    call: u32,
    api_ns: i64,
    queue_delay_ns: i64,
    prequeued: bool,
    exposed_ns: i64,
    /// Whether the GPU was idle for longer than the kernel ran.
    outlasted: bool,
}

/// Limit of a start soon after its call, in halves of the usual time of a launch into an empty queue.
const SOON_HALVES: i64 = 3;

/// The columns that are not copied from `kernels`, filled row by row; 0 if nothing was launched.
struct LaunchColumns {
    calls: Vec<u32>,
    api_ns: Vec<i64>,
    queue_delays: Vec<i64>,
    prequeued: MutableBitmap,
    exposed_ns: Vec<i64>,
    bound: MutableBitmap,
    kernel_ns: Vec<i64>,
}

const NO_CALL: u32 = u32::MAX;

impl LaunchColumns {
    fn with_capacity(rows: usize) -> Self {
        Self {
            calls: Vec::with_capacity(rows),
            api_ns: Vec::with_capacity(rows),
            queue_delays: Vec::with_capacity(rows),
            prequeued: MutableBitmap::with_capacity(rows),
            exposed_ns: Vec::with_capacity(rows),
            bound: MutableBitmap::with_capacity(rows),
            kernel_ns: Vec::with_capacity(rows),
        }
    }

    fn push(&mut self, dispatch: &Dispatch<u32>, launch: Option<Launch>) {
        let number = |of: fn(&Launch) -> i64| launch.as_ref().map_or(0, of);
        let truth = |of: fn(&Launch) -> bool| launch.as_ref().is_some_and(of);
        self.calls.push(launch.as_ref().map_or(NO_CALL, |launch| launch.call));
        self.api_ns.push(number(|launch| launch.api_ns));
        self.queue_delays.push(number(|launch| launch.queue_delay_ns));
        self.prequeued.push(truth(|launch| launch.prequeued));
        self.exposed_ns.push(number(|launch| launch.exposed_ns));
        self.bound.push(truth(|launch| launch.outlasted));
        self.kernel_ns.push(dispatch.end_ns.saturating_sub(dispatch.start_ns));
    }

    /// Keeps the launches with too long an idle GPU for which the host was late: their queue was empty, or the kernel started as soon as
    /// one with an empty queue does. A launch during the launch of its predecessor waits only for its own launch delay. If the host is far
    /// ahead, it waits longer, and an idle GPU has other causes.
    fn judge(&mut self) {
        let launches = || self.calls.iter().zip(&self.queue_delays).zip(self.prequeued.iter());
        let mut alone: Vec<i64> = launches()
            .filter(|((call, _), prequeued)| **call != NO_CALL && !prequeued)
            .map(|((_, delay_ns), _)| *delay_ns)
            .collect();
        let middle = alone.len() / 2;
        let usual_ns = (!alone.is_empty()).then(|| *alone.select_nth_unstable(middle).1);
        let soon_ns = usual_ns.map(|usual_ns| usual_ns.saturating_mul(SOON_HALVES) / 2);
        let is_late = |((_, delay_ns), prequeued): ((&u32, &i64), bool)| {
            !prequeued || soon_ns.is_some_and(|soon_ns| *delay_ns <= soon_ns)
        };
        let bound = launches().map(is_late).zip(self.bound.iter()).map(|(late, outlasted)| late && outlasted).collect();
        self.bound = bound;
    }

    fn into_frame(self, kernels: &DataFrame, calls: &LaunchingCalls, names_calls: bool) -> Result<DataFrame> {
        let taken = TAKEN.iter().filter(|name| !PASSTHROUGH.contains(name) || kernels.column(name).is_ok());
        let mut columns: Vec<Column> = taken.map(|name| kernels.column(name).cloned()).collect::<PolarsResult<_>>()?;
        let launched: Bitmap = self.calls.iter().map(|call| *call != NO_CALL).collect();
        let of_launched = |name: &str, values: Vec<i64>| {
            let nulls = (launched.unset_bits() > 0).then(|| launched.clone());
            Int64Chunked::from_vec_validity(name.into(), values, nulls).into_series().into_column()
        };
        let flags = |truths: Bitmap| truths.iter().map(i64::from).collect::<Vec<i64>>();
        if names_calls {
            let calls_of_rows = self.calls.iter().map(|call| (*call != NO_CALL).then_some(*call));
            columns.push(calls.names(API_NAME, calls_of_rows)?);
        }
        columns.push(column("launched", flags(launched.clone())));
        columns.push(of_launched("api_ns", self.api_ns));
        columns.push(of_launched("queue_delay_ns", self.queue_delays));
        columns.push(of_launched("prequeued", flags(self.prequeued.into())));
        columns.push(of_launched("exposed_launch_ns", self.exposed_ns));
        columns.push(of_launched("launch_bound", flags(self.bound.into())));
        columns.push(column("kernel_ns", self.kernel_ns));
        Ok(DataFrame::new_infer_height(columns)?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::columns::frames::categorical;

    /// Four launches on a queue. The kernels are given by dispatch, start and end; the result has the values of each dispatch.
    fn told(kernels: &[(i64, i64, i64)]) -> BTreeMap<i64, (Option<i64>, Option<i64>)> {
        let each = |value: fn(&(i64, i64, i64)) -> i64| kernels.iter().map(value).collect::<Vec<i64>>();
        let calls = vec![0_i64, 2, 4, 6];
        let with_texts = |mut frame: DataFrame, rows: usize| {
            for (name, text) in [("domain", "hip"), ("name", "hipLaunchKernel")] {
                let column = Series::new(name.into(), vec![text; rows]).cast(&categorical()).unwrap();
                frame.with_column(column.into_column()).unwrap();
            }
            frame
        };
        let empty = Vec::<i64>::new;
        let kernels = df!(
            "dispatch_id" => each(|kernel| kernel.0),
            "gpu" => vec![0_i64; kernels.len()],
            "queue_id" => vec![1_i64; kernels.len()],
            "stream_id" => vec![1_i64; kernels.len()],
            "correlation_id" => each(|kernel| kernel.0),
            "start_ns" => each(|kernel| kernel.1),
            "end_ns" => each(|kernel| kernel.2),
            "valid" => vec![true; kernels.len()],
        );
        let copies = df!(
            "gpu" => empty(), "peer_gpu" => empty(), "start_ns" => empty(), "end_ns" => empty(), "valid" => Vec::<bool>::new(),
        );
        let regions = df!(
            "correlation_id" => [1_i64, 2, 3, 4],
            "start_ns" => calls.clone(),
            "end_ns" => calls.iter().map(|start| start + 1).collect::<Vec<i64>>(),
            "valid" => [true; 4],
        );
        let marks = df!("tid" => empty(), "correlation_id" => empty(), "time_ns" => empty());
        let tables = Frames::from_iter([
            ("kernels", kernels.unwrap()),
            ("memory_copies", copies.unwrap()),
            ("regions", with_texts(regions.unwrap(), 4)),
            ("marks", with_texts(marks.unwrap(), 0)),
        ]);
        let frame = of_tables(&tables, true).unwrap();
        let [ids, prequeued, exposed] = frame.integers(["dispatch_id", "prequeued", "exposed_launch_ns"]).unwrap();
        (0..frame.height()).map(|row| (ids.get(row).unwrap(), (prequeued.get(row), exposed.get(row)))).collect()
    }

    #[test]
    fn of_those_that_start_together_the_smaller_number_is_first_whatever_the_order_of_rows() {
        let kernels = [(1, 10, 12), (2, 20, 90), (3, 20, 30), (4, 20, 21)];
        let expected = told(&kernels);
        // The first is alone. The second starts 8 ns after the first has ended. The others start while the second runs.
        assert_eq!(expected[&1], (Some(0), Some(10)));
        assert_eq!(expected[&2], (Some(1), Some(8)));
        assert_eq!((expected[&3], expected[&4]), ((Some(1), Some(0)), (Some(1), Some(0))));
        for order in [[3, 2, 1, 0], [2, 0, 3, 1], [0, 3, 2, 1]] {
            assert_eq!(told(&order.map(|row| kernels[row])), expected, "{order:?}");
        }
    }
}

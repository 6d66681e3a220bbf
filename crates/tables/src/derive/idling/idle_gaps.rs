//! The table `idle_gaps`: when each GPU ran no kernel, and why. The same sweep makes `idle_calls`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use polars::prelude::*;
use rayon::prelude::*;

use crate::columns::values::{FrameValues, I64Values};
use crate::derive::calls::profiler_pauses;
pub(crate) use crate::derive::idling::call_columns::STATE;
use crate::derive::idling::call_columns::{CallColumns, HostNames};
pub(crate) use crate::derive::idling::gap_columns::RANGE;
use crate::derive::idling::gap_columns::{GapColumns, KERNELS_SHOWN};
use crate::derive::idling::gap_sweep::{GapSweep, ProcessTimes, SweptTables};
use crate::derive::idling::host_threads;
use crate::derive::idling::host_threads::HostThreads;
use crate::derive::launching::launching_calls::{CALL_COLUMNS, LaunchingCalls, MARK_COLUMNS};
use crate::derive::launching::lost_launches::{LostLaunches, RecordedWork};
use crate::derive::{Build, DerivedTable, Family, Frames, Needs, OnDemandTables, RowsWhen, WhyEmpty, needed};
use wavesieve_model::analysis::gpu_time::idle_intervals::Work;
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::analysis::numbering::lane_ids::IdInterner;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    needs_of: Some(needs_of),
    rows_when: RowsWhen::any(&["kernels", "memory_copies"]).if_found(),
    why_empty: WhyEmpty::AllIsWell,
    ..DerivedTable::new(&tables::idling::IDLE_GAPS, needs, Build::Family(&FAMILY))
};

pub(crate) static FAMILY: Family = Family { build, optional_needs: Vec::new };

fn needs() -> Needs {
    let of_both = ["correlation_id", "end_ns", "gpu", "start_ns", "tid", "valid"];
    let mut regions: Vec<&str> = [host_threads::REGIONS, CALL_COLUMNS].concat();
    regions.sort_unstable();
    regions.dedup();
    vec![
        ("kernels", [&of_both[..], &["dispatch_id", "kernel_name"]].concat()),
        ("memory_copies", [&of_both[..], &["copy_id", "peer_gpu"]].concat()),
        ("regions", regions),
        ("marks", MARK_COLUMNS.to_vec()),
    ]
}

/// Like [`needs`] if only some columns of the table are requested. Columns for kernel names or range messages are then not built.
fn needs_of(wanted: &BTreeSet<&'static str>) -> Needs {
    needs_of_sweep(KERNELS_SHOWN.iter().any(|name| wanted.contains(name)), wanted.contains(RANGE))
}

/// The source columns of the sweep, with names of kernels and messages of ranges where these are shown.
pub(crate) fn needs_of_sweep(shows_kernels: bool, shows_ranges: bool) -> Needs {
    let mut needs = needs();
    for (_, columns) in &mut needs {
        columns.retain(|name| match *name {
            "kernel_name" => shows_kernels,
            "message" => shows_ranges,
            _ => true,
        });
    }
    needs
}

/// The source columns of `idle_calls`, with messages of ranges and states of threads where these are shown.
pub(crate) fn needs_of_calls(shows_ranges: bool, shows_states: bool) -> Needs {
    let mut needs = needs_of_sweep(false, shows_ranges);
    if shows_states {
        needs.push((host_threads::STATES, host_threads::STATE_COLUMNS.to_vec()));
    }
    needs
}

const GAPS: &str = "idle_gaps";
const CALLS: &str = "idle_calls";

/// Finds the intervals without kernels of each GPU, splits them by cause, and idle time by what the host did too.
fn build(
    process: &Process,
    tables: &Frames,
    _more: &dyn OnDemandTables,
    names: &[&'static str],
) -> Result<Vec<DataFrame>> {
    let [kernels, copies, regions, marks] =
        ["kernels", "memory_copies", "regions", "marks"].map(|name| needed(tables, name));
    let (kernels, copies, regions, marks) = (kernels?, copies?, regions?, marks?);
    let order = tables.kernel_order()?;
    u32::try_from(copies.height()).context("more copies than rows can be counted")?;
    let mut by_gpu = WorkByGpu::default();
    by_gpu.add(kernels, order.rows(), "gpu", false)?;
    by_gpu.add(copies, 0..copies.height() as u32, "gpu", true)?;
    by_gpu.add(copies, 0..copies.height() as u32, "peer_gpu", true)?;
    let by_gpu = by_gpu.into_map();
    let all = || by_gpu.values().flatten();
    let span = all().map(|work| work.start_ns).min().zip(all().map(|work| work.end_ns).max());
    let span = span.map(|(start_ns, end_ns)| Interval::new(start_ns, end_ns));

    let kernel_ids = kernels.integer("dispatch_id")?;
    let copy_ids = copies.integer("copy_id")?;
    // Ids break ties, so that the order in which rows were read does not matter.
    let order = |work: &Work| {
        let id = if work.is_copy { copy_ids.get(work.row as usize) } else { kernel_ids.get(work.row as usize) };
        (work.start_ns, work.is_copy, id, work.row)
    };
    let times = ProcessTimes {
        span: span.unwrap_or(Interval::new(0, 0)),
        // Times of another clock do not relate to the start and end of the process.
        start_ns: process.facts.start_ns.filter(|_| span.is_none_or(|span| lived_at(process, span.start_ns))),
        end_ns: process.facts.end_ns.filter(|_| span.is_none_or(|span| lived_at(process, span.end_ns))),
        pauses: profiler_pauses::of_tables(process, regions, marks, span)?,
    };
    let wanted = SweptTables { gaps: names.contains(&GAPS), calls: names.contains(&CALLS) };
    let threads = HostThreads::from_frames(tables, wanted.calls)?;
    let mut recorded = RecordedWork::default();
    recorded.add(kernels, true)?;
    recorded.add(copies, false)?;
    let sweep = GapSweep {
        wanted,
        lost: LostLaunches::find(regions, &recorded)?,
        times: &times,
        kernels: Launched::from_frame(kernels)?,
        copies: Launched::from_frame(copies)?,
        calls: LaunchingCalls::from_frames(tables)?,
        threads: &threads,
    };
    let swept = by_gpu.into_par_iter().map(|(gpu, mut work)| {
        // Mostly sorted: kernels in order, then copies. A sort that merges runs takes linear time here.
        work.sort_by_key(order);
        let (gaps, calls) = sweep.gaps(&work);
        ((gpu, gaps), (gpu, calls))
    });
    let (mut gaps, calls): (ByGpu<GapColumns>, ByGpu<CallColumns>) = swept.unzip();
    let (kernel_names, regions, ranges) =
        (kernels.column("kernel_name").ok(), regions.column("name")?, threads.range_names());
    let states = tables.get(host_threads::STATES).map(|states| states.column("state")).transpose()?;
    let table = |name: &&'static str| match *name {
        GAPS => GapColumns::into_frame(std::mem::take(&mut gaps), process, kernel_names, regions, ranges),
        CALLS => {
            let names = HostNames { regions, ranges, states, threads: &threads };
            CallColumns::into_frame(&calls, process, tables, &names)
        }
        other => bail!("internal: {other} is not about idle time"),
    };
    names.iter().map(table).collect()
}

/// Columns of each GPU.
type ByGpu<T> = Vec<(i64, T)>;

/// Whether a process existed at a time; an unrecorded start or end does not limit it.
fn lived_at(process: &Process, time_ns: i64) -> bool {
    let (start_ns, end_ns) = (process.facts.start_ns, process.facts.end_ns);
    start_ns.is_none_or(|start| start <= time_ns) && end_ns.is_none_or(|end| time_ns <= end)
}

/// Identifies the call that launched each row of `kernels` or `memory_copies`.
pub struct Launched {
    /// Correlation ids.
    pub ids: I64Values,
    /// Threads, if recorded with the work.
    pub threads: I64Values,
}

impl Launched {
    fn from_frame(frame: &DataFrame) -> Result<Self> {
        Ok(Self { ids: frame.integer("correlation_id")?, threads: frame.integer("tid")? })
    }
}

/// Kernels and copies by GPU.
#[derive(Default)]
struct WorkByGpu {
    numbers: IdInterner<i64>,
    work: Vec<Vec<Work>>,
}

impl WorkByGpu {
    /// Adds some rows, if they are valid and their GPU is known.
    fn add(
        &mut self,
        frame: &DataFrame,
        rows: impl Iterator<Item = u32>,
        gpu_column: &str,
        is_copy: bool,
    ) -> Result<()> {
        let [gpus, starts, ends] = frame.integers([gpu_column, "start_ns", "end_ns"])?;
        let valid = frame.truths("valid")?.are_true();
        for row in rows {
            let at = row as usize;
            let times = starts.get(at).zip(ends.get(at)).filter(|_| valid.get(at) == Some(true));
            let (Some(gpu), Some((start_ns, end_ns))) = (gpus.get(at), times) else { continue };
            let number = self.numbers.intern(gpu) as usize;
            if number == self.work.len() {
                self.work.push(Vec::new());
            }
            if let Some(work) = self.work.get_mut(number) {
                work.push(Work { start_ns, end_ns, row, is_copy });
            }
        }
        Ok(())
    }

    fn into_map(mut self) -> BTreeMap<i64, Vec<Work>> {
        let numbers = self.numbers.known().iter();
        numbers.filter_map(|(gpu, number)| Some((*gpu, std::mem::take(self.work.get_mut(*number as usize)?)))).collect()
    }
}

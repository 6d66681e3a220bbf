//! The columns of `idle_gaps`, filled part by part.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::dictionary_column;
use crate::derive::{column, gpu_columns};
use wavesieve_model::analysis::gpu_time::idle_causes::Cause;
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::schema::process::Process;

/// Facts that the parts of an interval without kernels share.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gap {
    /// Whether a copy ends it, or a kernel, or nothing.
    pub next_is_copy: Option<bool>,
    /// Row of the kernel that ended last before it.
    pub kernel_before: Option<u32>,
    /// Row of the first kernel after it.
    pub kernel_after: Option<u32>,
    /// Thread that is responsible.
    pub tid: Option<i64>,
}

/// An interval, or a part of it with one cause.
#[derive(Clone, Copy, Debug)]
pub struct GapPart {
    /// Its time.
    pub time: Interval,
    /// Its cause.
    pub cause: Cause,
    /// Row of the call with the largest overlap, and that overlap.
    pub call: Option<(u32, i64)>,
    /// Row of the ROCTx range that encloses most of it.
    pub range: Option<u32>,
}

/// An interval in a compact form: there may be as many as kernels.
#[derive(Clone, Copy)]
struct IdleInterval {
    kernel_before: u32,
    kernel_after: u32,
    /// Place among the threads.
    thread: u32,
    parts: u32,
    next_is_copy: Option<bool>,
}

/// The columns of one GPU.
#[derive(Default)]
pub(crate) struct GapColumns {
    gaps: Vec<i64>,
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    causes: Vec<Cause>,
    intervals: Vec<IdleInterval>,
    /// Threads in order of first use, and the index of each.
    tids: Vec<Option<i64>>,
    places: BTreeMap<Option<i64>, u32>,
    calls: Vec<u32>,
    call_ns: Vec<i64>,
    ranges: Vec<u32>,
}

/// Columns with kernel names.
pub(crate) const KERNELS_SHOWN: [&str; 2] = ["kernel_before", "kernel_after"];
/// The column with range names.
pub const RANGE: &str = "range";

pub(crate) const NO_ROW: u32 = u32::MAX;
/// Names for the work that ends an interval.
const KINDS: [&str; 2] = ["kernel", "copy"];

impl GapColumns {
    /// Starts an interval; its parts follow.
    pub fn begin(&mut self, gap: Gap) {
        let next_place = u32::try_from(self.tids.len()).unwrap_or(NO_ROW);
        let thread = *self.places.entry(gap.tid).or_insert(next_place);
        if thread == next_place {
            self.tids.push(gap.tid);
        }
        self.intervals.push(IdleInterval {
            kernel_before: gap.kernel_before.unwrap_or(NO_ROW),
            kernel_after: gap.kernel_after.unwrap_or(NO_ROW),
            thread,
            parts: 0,
            next_is_copy: gap.next_is_copy,
        });
    }

    /// Adds the next part of the interval that was started most recently.
    pub fn push(&mut self, part: GapPart) {
        let number = self.intervals.len();
        if let Some(gap) = self.intervals.last_mut() {
            gap.parts += 1;
            self.gaps.push(i64::try_from(number - 1).unwrap_or(i64::MAX));
            self.start_ns.push(part.time.start_ns);
            self.end_ns.push(part.time.end_ns);
            self.causes.push(part.cause);
            let (call, call_ns) = part.call.unwrap_or((NO_ROW, 0));
            self.calls.push(call);
            self.call_ns.push(call_ns);
            self.ranges.push(part.range.unwrap_or(NO_ROW));
        }
    }

    /// The table without `process` and `rank`, from the columns of all GPUs. Stored rows refer to the columns of names. Without the names
    /// of kernels or ranges, their columns are missing.
    pub fn into_frame(
        all: Vec<(i64, Self)>,
        process: &Process,
        kernel_names: Option<&Column>,
        call_names: &Column,
        range_names: Option<&Column>,
    ) -> Result<DataFrame> {
        let rows: usize = all.iter().map(|(_, columns)| columns.causes.len()).sum();
        let [gpu, device] = gpu_columns(process, all.iter().map(|(gpu, columns)| (*gpu, columns.causes.len())));
        let gathered = |of: &dyn Fn(&Self) -> &Vec<i64>| {
            let mut values = Vec::with_capacity(rows);
            all.iter().for_each(|(_, columns)| values.extend_from_slice(of(columns)));
            values
        };
        let (starts, ends) = (gathered(&|columns| &columns.start_ns), gathered(&|columns| &columns.end_ns));
        let durations = starts.iter().zip(&ends).map(|(start, end)| end.saturating_sub(*start)).collect();
        let gaps = || {
            let intervals = all.iter().flat_map(|(_, columns)| columns.intervals.iter().map(move |gap| (columns, gap)));
            intervals.flat_map(|(columns, gap)| std::iter::repeat_n((columns, gap), gap.parts as usize))
        };
        let known = |row: u32| (row != NO_ROW).then_some(row);
        let rows_of =
            |of: fn(&Self) -> &Vec<u32>| all.iter().flat_map(move |(_, columns)| of(columns)).copied().map(known);
        let call_ns = all.iter().flat_map(|(_, columns)| columns.calls.iter().zip(&columns.call_ns));
        let call_ns = call_ns.map(|(call, overlap_ns)| (*call != NO_ROW).then_some(*overlap_ns));
        let call_ns = Int64Chunked::from_iter_options("api_ns".into(), call_ns);
        let causes = Cause::ALL.map(Cause::name);
        let of_causes = all.iter().flat_map(|(_, columns)| &columns.causes).map(|cause| Some(*cause as usize));
        let tids = gaps().map(|(columns, gap)| columns.tids.get(gap.thread as usize).copied().flatten());
        let tids = Int64Chunked::from_iter_options("tid".into(), tids);
        let next_kinds = gaps().map(|(_, gap)| gap.next_is_copy.map(usize::from));
        let mut columns = vec![
            gpu,
            device,
            column("gap_id", gathered(&|columns| &columns.gaps)),
            column("start_ns", starts),
            column("end_ns", ends),
            column("duration_ns", durations),
            dictionary_column("cause", &causes, of_causes)?,
            dictionary_column("next_kind", &KINDS, next_kinds)?,
        ];
        if let Some(names) = kernel_names {
            let [before, after] = KERNELS_SHOWN;
            columns.push(named(before, names, gaps().map(|(_, gap)| known(gap.kernel_before)))?);
            columns.push(named(after, names, gaps().map(|(_, gap)| known(gap.kernel_after)))?);
        }
        columns.push(tids.into_column());
        columns.push(named("api_name", call_names, rows_of(|columns| &columns.calls))?);
        columns.push(call_ns.into_column());
        if let Some(names) = range_names {
            columns.push(named(RANGE, names, rows_of(|columns| &columns.ranges))?);
        }
        Ok(DataFrame::new_infer_height(columns)?)
    }
}

/// The names at some rows of a column.
pub(crate) fn named(name: &str, names: &Column, rows: impl Iterator<Item = Option<u32>>) -> PolarsResult<Column> {
    let rows = IdxCa::from_iter_options("row".into(), rows);
    Ok(names.as_materialized_series().take(&rows)?.with_name(name.into()).into_column())
}

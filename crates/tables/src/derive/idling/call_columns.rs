//! The columns of `idle_calls`, filled piece by piece.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{dictionary_column, integers};
use crate::derive::columns::{WantedColumns, repeated};
use crate::derive::idling::gap_columns::{NO_ROW, RANGE, named};
use crate::derive::idling::host_pieces::HostPiece;
use crate::derive::idling::host_threads::HostThreads;
use crate::derive::{Frames, column, gpu_columns};
use wavesieve_model::analysis::gpu_time::idle_causes::Cause;
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables::idling::IDLE_CALLS;

/// Column of the states of the launching thread.
pub(crate) const STATE: &str = "thread_state";

/// An idle interval, whose pieces follow one another.
#[derive(Clone, Copy)]
struct Gap {
    length_ns: i64,
    tid: Option<i64>,
    pieces: usize,
}

/// The columns of one GPU.
#[derive(Default)]
pub(crate) struct CallColumns {
    gaps: Vec<Gap>,
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    causes: Vec<Cause>,
    calls: Vec<u32>,
    functions: Vec<u32>,
    ranges: Vec<u32>,
    states: Vec<u32>,
    /// The piece that was added last.
    last: Option<(Cause, HostPiece)>,
}

/// Names that rows point into.
pub(crate) struct HostNames<'a> {
    /// Columns of `regions`: calls, operators and functions.
    pub regions: &'a Column,
    /// Columns of ROCTx ranges, if they were read.
    pub ranges: Option<&'a Column>,
    /// States in `thread_states`, if they were read.
    pub states: Option<&'a Column>,
    /// Lengths of functions and ranges.
    pub threads: &'a HostThreads,
}

impl CallColumns {
    /// Starts an interval, whose pieces follow.
    pub fn begin(&mut self, length_ns: i64, tid: Option<i64>) {
        self.gaps.push(Gap { length_ns, tid, pieces: 0 });
        self.last = None;
    }

    /// Adds the next piece of the interval that was started last. One that goes on as the piece before it becomes part of it.
    pub fn push(&mut self, time: Interval, cause: Cause, piece: HostPiece) {
        if self.last == Some((cause, piece))
            && let Some(end_ns) = self.end_ns.last_mut().filter(|end_ns| **end_ns == time.start_ns)
        {
            *end_ns = time.end_ns;
            return;
        }
        self.last = Some((cause, piece));
        if let Some(gap) = self.gaps.last_mut() {
            gap.pieces += 1;
            self.start_ns.push(time.start_ns);
            self.end_ns.push(time.end_ns);
            self.causes.push(cause);
            self.calls.push(piece.call.unwrap_or(NO_ROW));
            self.functions.push(piece.function.unwrap_or(NO_ROW));
            self.ranges.push(piece.range.unwrap_or(NO_ROW));
            self.states.push(piece.state.unwrap_or(NO_ROW));
        }
    }

    /// The wanted columns of the table without `process` and `rank`, from the columns of all GPUs.
    pub fn into_frame(
        all: &[(i64, Self)],
        process: &Process,
        tables: &Frames,
        names: &HostNames<'_>,
    ) -> Result<DataFrame> {
        let rows: usize = all.iter().map(|(_, columns)| columns.causes.len()).sum();
        let [gpu, device] = gpu_columns(process, all.iter().map(|(gpu, columns)| (*gpu, columns.causes.len())));
        let gathered = |of: fn(&Self) -> &Vec<i64>| {
            let mut values = Vec::with_capacity(rows);
            all.iter().for_each(|(_, columns)| values.extend_from_slice(of(columns)));
            values
        };
        let durations = || {
            let times = all.iter().flat_map(|(_, columns)| columns.start_ns.iter().zip(&columns.end_ns));
            times.map(|(start_ns, end_ns)| end_ns.saturating_sub(*start_ns)).collect()
        };
        let gaps = || all.iter().flat_map(|(_, columns)| &columns.gaps);
        let causes = Cause::ALL.map(Cause::name);
        let of_causes = all.iter().flat_map(|(_, columns)| &columns.causes).map(|cause| Some(*cause as usize));
        let known = |row: u32| (row != NO_ROW).then_some(row);
        let rows_of =
            |of: fn(&Self) -> &Vec<u32>| all.iter().flat_map(move |(_, columns)| of(columns)).copied().map(known);
        let mut table = WantedColumns::new(tables, IDLE_CALLS.name);
        table.add("gpu", |_| Ok(gpu))?;
        table.add("device", |_| Ok(device))?;
        table.add("start_ns", |name| Ok(column(name, gathered(|columns| &columns.start_ns))))?;
        table.add("end_ns", |name| Ok(column(name, gathered(|columns| &columns.end_ns))))?;
        table.add("duration_ns", |name| Ok(column(name, durations())))?;
        table.add("gap_ns", |name| Ok(repeated(name, gaps().map(|gap| (Some(gap.length_ns), gap.pieces)))))?;
        table.add("cause", |name| Ok(dictionary_column(name, &causes, of_causes)?))?;
        table.add("tid", |name| Ok(repeated(name, gaps().map(|gap| (gap.tid, gap.pieces)))))?;
        table.add("api_name", |name| Ok(named(name, names.regions, rows_of(|columns| &columns.calls))?))?;
        table.add("function_name", |name| Ok(named(name, names.regions, rows_of(|columns| &columns.functions))?))?;
        if let Some(ranges) = names.ranges {
            table.add(RANGE, |name| Ok(named(name, ranges, rows_of(|columns| &columns.ranges))?))?;
        }
        let lengths = |of: fn(&Self) -> &Vec<u32>, length: &dyn Fn(u32) -> Option<i64>| -> Vec<Option<i64>> {
            rows_of(of).map(|row| length(row?)).collect()
        };
        let function_ns = |row: u32| Some(names.threads.time(row).length_ns());
        let of_functions = || lengths(|columns| &columns.functions, &function_ns);
        table.add("function_ns", |name| Ok(integers(name, of_functions().into_iter())))?;
        let of_ranges = || lengths(|columns| &columns.ranges, &|row| names.threads.range_ns(row));
        table.add("range_ns", |name| Ok(integers(name, of_ranges().into_iter())))?;
        if let Some(states) = names.states {
            table.add(STATE, |name| Ok(named(name, states, rows_of(|columns| &columns.states))?))?;
        }
        table.into_frame()
    }
}

//! Activity of each host thread of a process over time: its calls, its waiting, its functions and ROCTx ranges.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::{Context, Result};
use polars::prelude::*;
use polars_arrow::bitmap::Bitmap;
use rayon::prelude::*;

use crate::columns::frames::{categorical, rows_named};
use crate::columns::values::{BoolValues, FrameValues, I64Values, present_in};
use crate::derive::launching::launching_calls::no_calls_of;
use crate::derive::{Frames, needed};
use wavesieve_model::analysis::api_classes::ApiClasses;
use wavesieve_model::analysis::gpu_time::idle_kinds::IdleKinds;
use wavesieve_model::analysis::intervals::{Interval, union};
use wavesieve_model::analysis::ranges::innermost::{Range, innermost};
use wavesieve_model::analysis::ranges::nesting::Nesting;

/// The columns of `regions` that are needed.
pub const REGIONS: &[&str] = &["domain", "end_ns", "message", "name", "start_ns", "tid", "valid"];

/// The table of states of threads, and the columns that are needed.
pub(crate) const STATES: &str = "thread_states";
pub(crate) const STATE_COLUMNS: &[&str] = &["end_ns", "start_ns", "state", "tid", "valid"];

/// Domain of ROCTx ranges.
const MARKER: &str = "marker";
/// Name of the operation that opens a ROCTx range of the whole process, which does not belong to a thread.
const PROCESS_RANGE: &str = "roctxProcessRangeA";

/// Activity of one thread, all lists in order.
#[derive(Debug, Default)]
pub struct Thread {
    /// Rows in `regions` of its calls, by their starts.
    pub calls: Vec<u32>,
    /// Nesting of these calls.
    pub nesting: Nesting,
    /// Places of its calls that are not inside another.
    pub outermost: Vec<u32>,
    /// Intervals inside calls that wait.
    pub waits: Vec<Interval>,
    /// The innermost ROCTx range of each moment, as rows of [`HostThreads::range_names`].
    pub ranges: Vec<Range>,
    /// The innermost operator or function of each moment, as rows of `regions`, if they are wanted. Some, such as data loaders, stand for
    /// all that they call.
    pub functions: Vec<Range>,
    /// Its states by the scheduler, as rows of `thread_states`, if they are wanted.
    pub states: Vec<Range>,
}

/// The threads of one process.
pub(crate) struct HostThreads {
    threads: BTreeMap<i64, Thread>,
    starts: I64Values,
    ends: I64Values,
    range_names: Option<Column>,
    range_lengths: Vec<i64>,
}

impl HostThreads {
    /// The threads that made the valid calls and ranges in `regions`, with their functions if these are wanted.
    pub(crate) fn from_frames(tables: &Frames, with_functions: bool) -> Result<Self> {
        let regions = needed(tables, "regions")?;
        let facts = ApiClasses::builtin();
        let [starts, ends] = regions.integers(["start_ns", "end_ns"])?;
        let (domains, names) = (regions.column("domain")?, regions.column("name")?);
        let threads = regions.integer("tid")?;
        let named = |column: &Column, wanted: &dyn Fn(&str) -> bool| -> Result<Bitmap> {
            Ok(BoolValues::new(&rows_named(column, wanted)?).are_true())
        };
        let markers = named(domains, &|domain| domain == MARKER)?;
        let process_ranges = named(names, &|name| name == PROCESS_RANGE)?;
        let waits = named(names, &|name| facts.synchronizes(name))?;
        let no_calls = &markers | &BoolValues::new(&no_calls_of(tables)?).are_true();
        let no_rows = || Bitmap::new_zeroed(regions.height());
        let kinds = IdleKinds::builtin();
        let scopes = with_functions.then(|| named(names, &|name| kinds.of_function(name).is_some()));
        let scopes = scopes.transpose()?.unwrap_or_else(no_rows);
        let counted = regions.truths("valid")?.are_true();
        let counted = present_in(counted, [&starts, &ends, &threads]);
        let (is_range, is_call) = (&(&markers & &!&process_ranges) & &counted, &!&no_calls & &counted);
        let is_wait = &waits & &is_call;
        let is_function = if with_functions { &(&no_calls & &!&markers) & &counted } else { no_rows() };
        u32::try_from(regions.height()).context("more regions than rows can be counted")?;

        let mut by_thread: BTreeMap<i64, Thread> = BTreeMap::new();
        let mut last: (i64, Thread) = Default::default();
        let mut range_rows: Vec<IdxSize> = Vec::new();
        let mut range_lengths: Vec<i64> = Vec::new();
        let times = starts.values().iter().zip(ends.values()).zip(threads.values());
        let kinds = is_call.iter().zip(is_range.iter()).zip(is_wait.iter().zip(is_function.iter()));
        for (row, (((start, end), tid), ((is_call, is_range), (is_wait, is_function)))) in
            (0_u32..).zip(times.zip(kinds))
        {
            if !is_call && !is_range && !is_function {
                continue;
            }
            if *tid != last.0 {
                by_thread.insert(last.0, last.1);
                last = (*tid, by_thread.remove(tid).unwrap_or_default());
            }
            if is_range {
                last.1.ranges.push(Range { time: Interval::new(*start, *end), row: u32::try_from(range_rows.len())? });
                range_rows.push(row);
                range_lengths.push(end.saturating_sub(*start));
            } else if is_function {
                last.1.functions.push(Range { time: Interval::new(*start, *end), row });
            } else {
                last.1.calls.push(row);
                if is_wait {
                    last.1.waits.push(Interval::new(*start, *end));
                }
            }
        }
        by_thread.insert(last.0, last.1);
        if let Some(states) = tables.get(STATES) {
            add_states(states, &mut by_thread)?;
        }
        by_thread.par_iter_mut().for_each(|(_, thread)| thread.settle(&starts, &ends, &scopes));
        let range_names = |messages: &Column| -> Result<Column> {
            let range_rows = IdxCa::from_vec("row".into(), range_rows);
            let messages = messages.as_materialized_series().take(&range_rows)?.cast(&categorical())?;
            let operations = names.as_materialized_series().take(&range_rows)?.cast(&categorical())?;
            Ok(messages.zip_with(&messages.is_not_null(), &operations)?.into_column())
        };
        let range_names = regions.column("message").ok().map(range_names).transpose()?;
        Ok(Self { threads: by_thread, starts, ends, range_names, range_lengths })
    }

    /// A thread, if it made any call.
    pub fn get(&self, tid: i64) -> Option<&Thread> {
        self.threads.get(&tid)
    }

    /// Interval of a call, by its row in `regions`.
    pub fn time(&self, call: u32) -> Interval {
        let at = |times: &I64Values| times.get(call as usize).unwrap_or_default();
        Interval::new(at(&self.starts), at(&self.ends))
    }

    /// Message of each ROCTx range, or the name of its operation, as a `cat` column; `None` if no messages were read.
    pub(crate) fn range_names(&self) -> Option<&Column> {
        self.range_names.as_ref()
    }

    /// Length of a ROCTx range, by its row in the names.
    pub(crate) fn range_ns(&self, range: u32) -> Option<i64> {
        self.range_lengths.get(range as usize).copied()
    }
}

/// Adds the states of threads, those of each by time.
fn add_states(states: &DataFrame, threads: &mut BTreeMap<i64, Thread>) -> Result<()> {
    let [tids, starts, ends] = states.integers(["tid", "start_ns", "end_ns"])?;
    let valid = states.truths("valid")?.are_true();
    for row in 0..u32::try_from(states.height()).context("more thread states than rows can be counted")? {
        let at = |values: &I64Values| values.get(row as usize);
        let Some(((tid, start_ns), end_ns)) = at(&tids).zip(at(&starts)).zip(at(&ends)) else { continue };
        if valid.get(row as usize) == Some(true) {
            let time = Interval::new(start_ns, end_ns);
            threads.entry(tid).or_default().states.push(Range { time, row });
        }
    }
    Ok(())
}

impl Thread {
    /// Puts everything in order.
    fn settle(&mut self, starts: &I64Values, ends: &I64Values, scopes: &Bitmap) {
        let place = |row: &u32| (starts.get(*row as usize), Reverse(ends.get(*row as usize)), *row);
        if !self.calls.is_sorted_by_key(place) {
            self.calls.sort_unstable_by_key(place);
        }
        let time = |row: &u32| {
            let at = |times: &I64Values| times.get(*row as usize).unwrap_or_default();
            Interval::new(at(starts), at(ends))
        };
        self.nesting = Nesting::new(self.calls.iter().map(time));
        self.outermost = self.nesting.roots().collect();
        self.waits = union(std::mem::take(&mut self.waits));
        self.states = innermost(std::mem::take(&mut self.states));
        self.ranges = innermost(std::mem::take(&mut self.ranges));
        self.functions = innermost(outside_of_scopes(std::mem::take(&mut self.functions), scopes));
    }
}

/// Functions without those inside of a scope, which are part of its work.
fn outside_of_scopes(mut functions: Vec<Range>, scopes: &Bitmap) -> Vec<Range> {
    let order = |one: &Range| (one.time.start_ns, Reverse(one.time.end_ns), one.row);
    if !functions.is_sorted_by_key(order) {
        functions.sort_unstable_by_key(order);
    }
    let mut scope_end_ns = i64::MIN;
    functions.retain(|one| {
        let is_outside = one.time.end_ns > scope_end_ns;
        if is_outside && scopes.get(one.row as usize) == Some(true) {
            scope_end_ns = one.time.end_ns;
        }
        is_outside
    });
    functions
}

//! What each host thread of a process was doing when: its calls, its waiting, its ROCTx ranges.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::{Context, Result};
use polars::prelude::*;
use rayon::prelude::*;

use super::launching_calls::no_calls_of;
use super::{Frames, needed};
use crate::trace::api_classes::ApiClasses;
use crate::trace::frames::{categorical, rows_named};
use crate::trace::innermost::{Range, innermost};
use crate::trace::intervals::{Interval, union};
use crate::trace::nesting::Nesting;
use crate::trace::values::{Integers, Truths};

/// The columns of `regions` that are needed.
pub const REGIONS: &[&str] = &["domain", "end_ns", "message", "name", "start_ns", "tid", "valid"];

/// Domain of ROCTx ranges.
const MARKER: &str = "marker";
/// Name of the operation that opens a ROCTx range of the whole process, which belongs to no thread.
const PROCESS_RANGE: &str = "roctxProcessRangeA";

/// What one thread did, everything in its order.
#[derive(Debug, Default)]
pub struct Thread {
    /// Rows in `regions` of its calls, by their starts.
    pub calls: Vec<u32>,
    /// Which of these contain which.
    pub nesting: Nesting,
    /// Places among its calls of those inside of no other.
    pub outermost: Vec<u32>,
    /// When it was inside a call that waits.
    pub waits: Vec<Interval>,
    /// The innermost ROCTx range of each moment, as rows of [`HostThreads::range_names`].
    pub ranges: Vec<Range>,
}

/// The threads of one process.
pub struct HostThreads {
    threads: BTreeMap<i64, Thread>,
    starts: Integers,
    ends: Integers,
    range_names: Option<Column>,
}

impl HostThreads {
    /// The threads that made the valid calls and ranges in `regions`.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn of(tables: &Frames) -> Result<Self> {
        let regions = needed(tables, "regions")?;
        let facts = ApiClasses::builtin();
        let starts = Integers::of(regions.column("start_ns")?.i64()?);
        let ends = Integers::of(regions.column("end_ns")?.i64()?);
        let (domains, names) = (regions.column("domain")?, regions.column("name")?);
        let valid = Truths::of(regions.column("valid")?.bool()?);
        let threads = Integers::of(regions.column("tid")?.i64()?);
        let annotations = Truths::of(&no_calls_of(tables)?);
        let markers = Truths::of(&rows_named(domains, |domain| domain == MARKER)?);
        let process_ranges = Truths::of(&rows_named(names, |name| name == PROCESS_RANGE)?);
        let waits = Truths::of(&rows_named(names, |name| facts.synchronises(name))?);
        u32::try_from(regions.height()).context("more regions than rows can be counted")?;

        let mut by_thread: BTreeMap<i64, Thread> = BTreeMap::new();
        let mut last: (i64, Thread) = Default::default();
        let mut range_rows: Vec<IdxSize> = Vec::new();
        let times = (0_u32..).zip(starts.iter()).zip(ends.iter()).zip(threads.iter()).zip(valid.iter());
        let kinds = annotations.iter().zip(markers.iter()).zip(process_ranges.iter()).zip(waits.iter());
        for (((((row, start), end), tid), valid), (((annotation, marker), process_range), waits)) in times.zip(kinds) {
            let (Some(start_ns), Some(end_ns), Some(tid), Some(true)) = (start, end, tid, valid) else { continue };
            if tid != last.0 {
                by_thread.insert(last.0, last.1);
                last = (tid, by_thread.remove(&tid).unwrap_or_default());
            }
            let time = Interval::new(start_ns, end_ns);
            if marker == Some(true) {
                if process_range != Some(true) {
                    last.1.ranges.push(Range { time, row: u32::try_from(range_rows.len())? });
                    range_rows.push(row);
                }
            } else if annotation != Some(true) {
                last.1.calls.push(row);
                if waits == Some(true) {
                    last.1.waits.push(time);
                }
            }
        }
        by_thread.insert(last.0, last.1);
        by_thread.par_iter_mut().for_each(|(_, thread)| thread.settle(&starts, &ends));
        let range_names = |messages: &Column| -> Result<Column> {
            let range_rows = IdxCa::from_vec("row".into(), range_rows);
            let messages = messages.as_materialized_series().take(&range_rows)?.cast(&categorical())?;
            let operations = names.as_materialized_series().take(&range_rows)?.cast(&categorical())?;
            Ok(messages.zip_with(&messages.is_not_null(), &operations)?.into_column())
        };
        let range_names = regions.column("message").ok().map(range_names).transpose()?;
        Ok(Self { threads: by_thread, starts, ends, range_names })
    }

    /// A thread, if it made any call.
    pub fn get(&self, tid: i64) -> Option<&Thread> {
        self.threads.get(&tid)
    }

    /// When a call ran, by its row in `regions`.
    pub fn time(&self, call: u32) -> Interval {
        let at = |times: &Integers| times.get(call as usize).unwrap_or_default();
        Interval::new(at(&self.starts), at(&self.ends))
    }

    /// Message of each ROCTx range, or the name of its operation, as a `cat` column; none where no messages were read.
    pub fn range_names(&self) -> Option<&Column> {
        self.range_names.as_ref()
    }
}

impl Thread {
    /// Puts everything in order.
    fn settle(&mut self, starts: &Integers, ends: &Integers) {
        let place = |row: &u32| (starts.get(*row as usize), Reverse(ends.get(*row as usize)), *row);
        if !self.calls.is_sorted_by_key(place) {
            self.calls.sort_unstable_by_key(place);
        }
        let time = |row: &u32| {
            let at = |times: &Integers| times.get(*row as usize).unwrap_or_default();
            Interval::new(at(starts), at(ends))
        };
        self.nesting = Nesting::of(self.calls.iter().map(time));
        self.outermost = self.nesting.roots().collect();
        self.waits = union(std::mem::take(&mut self.waits));
        self.ranges = innermost(std::mem::take(&mut self.ranges));
    }
}

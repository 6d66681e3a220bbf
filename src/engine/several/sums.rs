//! Segments summed up for statements that need no more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use polars::prelude::LazyFrame;

use super::merged::GPU_SEGMENTS;
use crate::trace::gpu_times::{GpuTime, SUMMED_COLUMNS, gpu_times};
use crate::trace::{Member, ProcessTables, Request, Trace};

/// Sums of segments by process.
pub struct Sums {
    /// Columns that are wanted of the sums.
    columns: BTreeSet<&'static str>,
    /// Whether the segments are read for others anyway.
    are_read: bool,
    times: Mutex<BTreeMap<i64, Vec<GpuTime>>>,
}

impl Sums {
    /// Sums for the requests of those that need no more; the segments of every process are `seen` if others read them too.
    pub fn of<'a>(requests: impl Iterator<Item = &'a Request>, others: &Request, seen: &mut Request) -> Self {
        let columns: BTreeSet<_> =
            requests.filter_map(|request| request.get(GPU_SEGMENTS)).flatten().copied().collect();
        let are_read = others.contains_key(GPU_SEGMENTS) || seen.contains_key(GPU_SEGMENTS);
        if are_read && !columns.is_empty() {
            seen.entry(GPU_SEGMENTS).or_default().extend(SUMMED_COLUMNS);
        }
        Self { columns, are_read, times: Mutex::default() }
    }

    /// Sums up the segments of a process, if they were read.
    ///
    /// # Errors
    /// When polars cannot collect them.
    pub fn see(&self, member: &Member, tables: &ProcessTables) -> Result<()> {
        if let Some(segments) = tables.get(GPU_SEGMENTS).filter(|_| !self.columns.is_empty()) {
            let times = gpu_times(&segments.clone().collect()?)?;
            self.times.lock().unwrap_or_else(PoisonError::into_inner).insert(member.process.process, times);
        }
        Ok(())
    }

    /// The table that stands for the segments, if anyone wants it.
    ///
    /// # Errors
    /// When a table cannot be read or built.
    pub fn finish(self, trace: &Trace) -> Result<Option<LazyFrame>> {
        if self.columns.is_empty() {
            return Ok(None);
        }
        let request = Request::from([(GPU_SEGMENTS, self.columns)]);
        let mut frames = if self.are_read {
            trace.frames_of_sums(&request, &self.times.into_inner().unwrap_or_else(PoisonError::into_inner))?
        } else {
            trace.frames_with_sums(&request)?
        };
        Ok(frames.remove(GPU_SEGMENTS))
    }
}

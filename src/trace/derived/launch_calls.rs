//! The calls that launched kernels and copies.

use anyhow::Result;
use polars::prelude::*;

use crate::trace::frames::rows_named;
use crate::trace::host_calls::HostCalls;
use crate::trace::launch_index::LaunchIndex;
use crate::trace::values::{Integers, Truths};

/// The columns of `regions` that are needed.
pub const REGIONS: &[&str] = &["correlation_id", "domain", "end_ns", "start_ns", "tid", "valid"];
/// The columns of `marks` that are needed.
pub const MARKS: &[&str] = &["correlation_id", "domain", "tid", "time_ns"];

/// A call that launched something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchCall {
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// Return in raw nanoseconds.
    pub end_ns: i64,
    /// Thread that called.
    pub tid: Option<i64>,
    /// Its row in `regions`; none for a call of zero length, which is in `marks`.
    pub region: Option<u32>,
}

/// The valid calls of one process by correlation id. Annotations are no calls, and id 0 stands for none.
pub struct LaunchCalls {
    regions: LaunchIndex,
    marks: LaunchIndex,
    starts: Integers,
    ends: Integers,
    threads: Integers,
    mark_times: Integers,
    mark_threads: Integers,
}

impl LaunchCalls {
    /// The calls in `regions` and those of zero length in `marks`.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn of(regions: &DataFrame, marks: &DataFrame, facts: &HostCalls) -> Result<Self> {
        let integers = |frame: &DataFrame, name: &str| Ok::<_, anyhow::Error>(Integers::of(frame.column(name)?.i64()?));
        let ids = integers(regions, "correlation_id")?;
        let valid = Truths::of(regions.column("valid")?.bool()?);
        let annotations = Truths::of(&rows_named(regions.column("domain")?, |domain| facts.annotates(domain))?);
        let starts = integers(regions, "start_ns")?;
        let calls = || {
            let rows = (0_u32..).zip(ids.iter()).zip(valid.iter()).zip(annotations.iter());
            rows.filter(|((_, valid), annotation)| *valid == Some(true) && *annotation != Some(true))
                .filter_map(|(((row, id), _), _)| Some((row, id.filter(|id| *id != 0)?)))
        };
        let in_regions = LaunchIndex::of(calls, |row| starts.get(row as usize).unwrap_or(i64::MAX));

        let mark_ids = integers(marks, "correlation_id")?;
        let mark_annotations = Truths::of(&rows_named(marks.column("domain")?, |domain| facts.annotates(domain))?);
        let mark_times = integers(marks, "time_ns")?;
        let calls = || {
            let rows = (0_u32..).zip(mark_ids.iter()).zip(mark_annotations.iter());
            rows.filter(|(_, annotation)| *annotation != Some(true))
                .filter_map(|((row, id), _)| Some((row, id.filter(|id| *id != 0)?)))
        };
        let in_marks = LaunchIndex::of(calls, |row| mark_times.get(row as usize).unwrap_or(i64::MAX));
        Ok(Self {
            regions: in_regions,
            marks: in_marks,
            starts,
            ends: integers(regions, "end_ns")?,
            threads: integers(regions, "tid")?,
            mark_times,
            mark_threads: integers(marks, "tid")?,
        })
    }

    /// The call that has a correlation id.
    pub fn find(&self, correlation_id: i64) -> Option<LaunchCall> {
        if let Some(region) = self.regions.row(correlation_id) {
            let row = region as usize;
            let (start_ns, end_ns) = (self.starts.get(row)?, self.ends.get(row)?);
            return Some(LaunchCall { start_ns, end_ns, tid: self.threads.get(row), region: Some(region) });
        }
        let row = self.marks.row(correlation_id)? as usize;
        let time_ns = self.mark_times.get(row)?;
        Some(LaunchCall { start_ns: time_ns, end_ns: time_ns, tid: self.mark_threads.get(row), region: None })
    }
}

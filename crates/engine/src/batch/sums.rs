//! Sums of segments, for statements that need only sums.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::LazyFrame;

use wavesieve_tables::columns::frames::collected;
use wavesieve_tables::columns::requests::{ProcessTables, Request};
use wavesieve_tables::derive::gpu_work::gpu_times::{GPU_SEGMENTS, GpuTime, SUMMED_COLUMNS, gpu_times};
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::summed_frames::{activities, gpu_times_of_activities};
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Origin of the sums.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Segments that are read anyway for other statements.
    Segments,
    /// Kernels and copies that are read anyway for other statements.
    Activities,
    /// Tables that are read only for the sums.
    Nothing,
}

/// Sums of segments by process.
pub struct Sums {
    /// Requested columns of the sums.
    columns: BTreeSet<&'static str>,
    origin: Origin,
    times: Mutex<BTreeMap<i64, Vec<GpuTime>>>,
}

impl Sums {
    /// Sums with some columns. `read` has the tables of every process that are read for other statements.
    pub fn new(trace: &Trace, columns: BTreeSet<&'static str>, read: &Request) -> Result<Self> {
        let mut origin = Origin::Nothing;
        if read.contains_key(GPU_SEGMENTS) {
            origin = Origin::Segments;
        } else if !columns.is_empty() && read.contains_key("kernels") && trace.sums_are_of_activities()? {
            origin = Origin::Activities;
        }
        Ok(Self { columns, origin, times: Mutex::default() })
    }

    /// Sums of the segments of the steady part, which are cut for it.
    pub(crate) fn of_segments(columns: BTreeSet<&'static str>) -> Self {
        Self { columns, origin: Origin::Segments, times: Mutex::default() }
    }

    /// Consumer that sums up the segments of each process, if sums are requested and their source tables are read.
    pub fn consumer(&self) -> Option<TableConsumer<'_>> {
        let request = match self.origin {
            Origin::Segments => Request::from([(GPU_SEGMENTS, SUMMED_COLUMNS.iter().copied().collect())]),
            Origin::Activities => activities(),
            Origin::Nothing => return None,
        };
        (!self.columns.is_empty()).then(|| TableConsumer::new(request, |member, tables| self.see(member, tables)))
    }

    fn see(&self, member: &TraceProcess, tables: &ProcessTables) -> Result<()> {
        let times = match (self.origin, tables.get(GPU_SEGMENTS)) {
            (Origin::Segments, Some(segments)) => gpu_times(&collected(segments)?)?,
            (Origin::Activities, _) => gpu_times_of_activities(tables)?,
            _ => return Ok(()),
        };
        self.times.lock().insert(member.process.process, times);
        Ok(())
    }

    /// The table of sums that replaces the segments, if it is requested.
    ///
    /// # Errors
    /// When a table cannot be read or built.
    pub fn finish(self, trace: &Trace) -> Result<Option<LazyFrame>> {
        if self.columns.is_empty() {
            return Ok(None);
        }
        let request = Request::from([(GPU_SEGMENTS, self.columns)]);
        let mut frames = match self.origin {
            Origin::Nothing => trace.frames_with_sums(&request)?,
            Origin::Segments | Origin::Activities => trace.frames_of_sums(&request, &self.times.into_inner())?,
        };
        Ok(frames.remove(GPU_SEGMENTS))
    }
}

//! Which calls launched the work of a window.

use anyhow::Result;
use polars::prelude::{IntoLazy as _, col, lit};

use super::columns::{Extent, integers, rows_in, texts, times};
use wavesieve_tables::columns::requests::ProcessTables;

/// A call, and work that it launched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch {
    /// Whether it launched a copy.
    pub is_copy: bool,
    /// `dispatch_id` or `copy_id`.
    pub target_id: i64,
    /// Thread of the call.
    pub tid: Option<i64>,
    /// Time of the call.
    pub call: Extent,
}

/// The launches of work of a GPU that runs in a part of the run.
pub(super) fn launches(tables: &ProcessTables, gpu: Option<i64>, time: Extent) -> Result<Vec<Launch>> {
    let mut frame = rows_in(tables, "launches", time)?;
    if frame.height() == 0 {
        return Ok(Vec::new());
    }
    if let Some(gpu) = gpu {
        frame = frame.lazy().filter(col("gpu").eq(lit(gpu)).or(col("gpu").is_null())).collect()?;
    }
    if frame.height() == 0 {
        return Ok(Vec::new());
    }
    let (kinds, targets, threads) = (texts(&frame, "kind")?, integers(&frame, "target_id")?, integers(&frame, "tid")?);
    let (starts, ends) = (integers(&frame, "api_start_ns")?, integers(&frame, "api_end_ns")?);
    let launch = |(row, _): (usize, Extent)| {
        Some(Launch {
            is_copy: kinds.get(row)? == "copy",
            target_id: targets.get(row)?,
            tid: threads.get(row),
            call: Extent { start_ns: starts.get(row)?, end_ns: ends.get(row)? },
        })
    };
    Ok(times(&frame)?.into_iter().filter_map(launch).collect())
}

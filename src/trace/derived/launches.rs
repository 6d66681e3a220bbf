//! The table `launches`: kernels and copies with the API calls that launched them.

use anyhow::Result;
use polars::prelude::*;

use super::launching_calls::{CALL_COLUMNS, LaunchingCall, LaunchingCalls, MARK_COLUMNS};
use super::{Frames, Needs, column, needed};
use crate::trace::frames::dictionary_column;
use crate::trace::identity::Process;
use crate::trace::values::{Integers, Truths, integers};

/// What can be launched: kind, table and its key.
const TARGETS: [(&str, &str, &str); 2] = [("kernel", "kernels", "dispatch_id"), ("copy", "memory_copies", "copy_id")];

/// The source columns that it is built from.
pub fn needs() -> Needs {
    let mut needs: Needs = TARGETS
        .iter()
        .map(|(_, table, key)| (*table, vec![*key, "gpu", "correlation_id", "start_ns", "end_ns", "valid"]))
        .collect();
    needs.extend([("regions", CALL_COLUMNS.to_vec()), ("marks", MARK_COLUMNS.to_vec())]);
    needs
}

/// Looks up the call of every valid kernel and copy.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let calls = LaunchingCalls::of(tables)?;
    let rows = TARGETS.iter().map(|(_, table, _)| Ok(needed(tables, table)?.height()));
    let mut columns = LaunchColumns::with_capacity(rows.sum::<Result<usize>>()?);
    for (kind, (_, table, key)) in TARGETS.iter().enumerate() {
        let frame = needed(tables, table)?;
        let integer = |name: &str| -> Result<Integers> { Ok(Integers::of(frame.column(name)?.i64()?)) };
        let (keys, gpus, ids) = (integer(key)?, integer("gpu")?, integer("correlation_id")?);
        let (starts, ends) = (integer("start_ns")?, integer("end_ns")?);
        let valid = Truths::of(frame.column("valid")?.bool()?);
        let rows = keys.iter().zip(gpus.iter()).zip(ids.iter()).zip(starts.iter()).zip(ends.iter()).zip(valid.iter());
        for (((((key, gpu), id), start), end), valid) in rows {
            if let (Some(target_id), Some(id), Some(start_ns), Some(end_ns), Some(true)) = (key, id, start, end, valid)
                && let Some(call) = calls.get(Some(id))
            {
                columns.push(kind, id, &call, &Target { gpu, target_id, start_ns, end_ns });
            }
        }
    }
    columns.into_frame(&calls)
}

/// A kernel or copy.
struct Target {
    gpu: Option<i64>,
    target_id: i64,
    start_ns: i64,
    end_ns: i64,
}

/// The columns of `launches`, filled row by row.
struct LaunchColumns {
    calls: Vec<u32>,
    kinds: Vec<u8>,
    ids: Vec<i64>,
    threads: Vec<Option<i64>>,
    gpus: Vec<Option<i64>>,
    target_ids: Vec<i64>,
    api_starts: Vec<i64>,
    api_ends: Vec<i64>,
    starts: Vec<i64>,
    ends: Vec<i64>,
}

impl LaunchColumns {
    fn with_capacity(rows: usize) -> Self {
        let column = || Vec::with_capacity(rows);
        Self {
            calls: Vec::with_capacity(rows),
            kinds: Vec::with_capacity(rows),
            ids: column(),
            threads: Vec::with_capacity(rows),
            gpus: Vec::with_capacity(rows),
            target_ids: column(),
            api_starts: column(),
            api_ends: column(),
            starts: column(),
            ends: column(),
        }
    }

    fn push(&mut self, kind: usize, id: i64, call: &LaunchingCall, target: &Target) {
        self.calls.push(call.row);
        self.kinds.push(u8::from(kind > 0));
        self.ids.push(id);
        self.threads.push(call.tid);
        self.gpus.push(target.gpu);
        self.target_ids.push(target.target_id);
        self.api_starts.push(call.start_ns);
        self.api_ends.push(call.end_ns);
        self.starts.push(target.start_ns);
        self.ends.push(target.end_ns);
    }

    fn into_frame(self, calls: &LaunchingCalls) -> Result<DataFrame> {
        let delays = self.starts.iter().zip(&self.api_ends).map(|(start, end)| start.saturating_sub(*end)).collect();
        let kinds = TARGETS.map(|(kind, _, _)| Some(kind.to_owned()));
        Ok(DataFrame::new_infer_height(vec![
            column("correlation_id", self.ids),
            calls.names("api_name", self.calls.iter().map(|row| Some(*row)))?,
            integers("tid", self.threads.into_iter()).into_series().into_column(),
            integers("gpu", self.gpus.into_iter()).into_series().into_column(),
            dictionary_column("kind", &kinds, self.kinds.iter().map(|kind| Some(usize::from(*kind))))?,
            column("target_id", self.target_ids),
            column("api_start_ns", self.api_starts),
            column("api_end_ns", self.api_ends),
            column("start_ns", self.starts),
            column("end_ns", self.ends),
            column("queue_delay_ns", delays),
        ])?)
    }
}

//! The table `launches`: kernels and copies with the API calls that launched them.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::dictionary_column;
use crate::columns::values::{BoolValues, I64Values, integers};
use crate::derive::launching::launching_calls::{CALL_COLUMNS, LaunchingCall, LaunchingCalls, MARK_COLUMNS};
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, RowsWhen, WantedColumns, column, needed};
use crate::schema::process::Process;
use crate::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    owners: &Owner::WORK,
    rows_when: RowsWhen { all: &["regions"], any: &["kernels", "memory_copies"], searches: true },
    ..DerivedTable::new(&tables::launching::LAUNCHES, needs, Build::Alone(build))
};

/// What can be launched: kind, table and its key.
const TARGETS: [(&str, &str, &str); 2] = [("kernel", "kernels", "dispatch_id"), ("copy", "memory_copies", "copy_id")];

fn needs() -> Needs {
    let mut needs: Needs = TARGETS
        .iter()
        .map(|(_, table, key)| (*table, vec![*key, "gpu", "correlation_id", "start_ns", "end_ns", "valid"]))
        .collect();
    needs.extend([("regions", CALL_COLUMNS.to_vec()), ("marks", MARK_COLUMNS.to_vec())]);
    needs
}

/// Looks up the call of every valid kernel and copy.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let calls = LaunchingCalls::from_frames(tables)?;
    let rows = TARGETS.iter().map(|(_, table, _)| Ok(needed(tables, table)?.height()));
    let mut columns = LaunchColumns::with_capacity(rows.sum::<Result<usize>>()?);
    for (kind, (_, table, key)) in TARGETS.iter().enumerate() {
        let frame = needed(tables, table)?;
        let integer = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
        let (keys, gpus, ids) = (integer(key)?, integer("gpu")?, integer("correlation_id")?);
        let (starts, ends) = (integer("start_ns")?, integer("end_ns")?);
        let valid = BoolValues::new(frame.column("valid")?.bool()?);
        let rows = keys.iter().zip(gpus.iter()).zip(ids.iter()).zip(starts.iter()).zip(ends.iter()).zip(valid.iter());
        for (((((key, gpu), id), start), end), valid) in rows {
            if let (Some(target_id), Some(id), Some(start_ns), Some(end_ns), Some(true)) = (key, id, start, end, valid)
                && let Some(call) = calls.get(Some(id))
            {
                columns.push(kind, id, &call, Target { gpu, target_id, start_ns, end_ns });
            }
        }
    }
    columns.into_frame(&calls, tables)
}

/// A kernel or copy.
struct Target {
    gpu: Option<i64>,
    target_id: i64,
    start_ns: i64,
    end_ns: i64,
}

/// What the columns of `launches` are made of, row by row.
struct LaunchColumns {
    calls: Vec<LaunchingCall>,
    kinds: Vec<u8>,
    ids: Vec<i64>,
    targets: Vec<Target>,
}

impl LaunchColumns {
    fn with_capacity(rows: usize) -> Self {
        Self {
            calls: Vec::with_capacity(rows),
            kinds: Vec::with_capacity(rows),
            ids: Vec::with_capacity(rows),
            targets: Vec::with_capacity(rows),
        }
    }

    fn push(&mut self, kind: usize, id: i64, call: &LaunchingCall, target: Target) {
        self.calls.push(*call);
        self.kinds.push(u8::from(kind > 0));
        self.ids.push(id);
        self.targets.push(target);
    }

    fn into_frame(self, calls: &LaunchingCalls, tables: &Frames) -> Result<DataFrame> {
        let Self { calls: launching, kinds, ids, targets } = self;
        let whole = |name: &str, value: fn(&Target) -> i64| Ok(column(name, targets.iter().map(value).collect()));
        let of_call = |name: &str, value: fn(&LaunchingCall) -> Option<i64>| {
            Ok(integers(name, launching.iter().map(value)).into_series().into_column())
        };
        let words = TARGETS.map(|(kind, _, _)| Some(kind.to_owned()));
        let delays = || {
            let launched = targets.iter().zip(&launching);
            launched.map(|(target, call)| target.start_ns.saturating_sub(call.end_ns))
        };
        let mut columns = WantedColumns::new(tables, DECLARATION.table.name);
        columns.add("correlation_id", |name| Ok(column(name, ids)))?;
        columns.add("api_name", |name| calls.names(name, launching.iter().map(|call| Some(call.row))))?;
        columns.add("tid", |name| of_call(name, |call| call.tid))?;
        columns.add("gpu", |name| {
            Ok(integers(name, targets.iter().map(|target| target.gpu)).into_series().into_column())
        })?;
        let of_kind = || kinds.iter().map(|kind| Some(usize::from(*kind)));
        columns.add("kind", |name| Ok(dictionary_column(name, &words, of_kind())?))?;
        columns.add("target_id", |name| whole(name, |target| target.target_id))?;
        columns.add("api_start_ns", |name| of_call(name, |call| Some(call.start_ns)))?;
        columns.add("api_end_ns", |name| of_call(name, |call| Some(call.end_ns)))?;
        columns.add("start_ns", |name| whole(name, |target| target.start_ns))?;
        columns.add("end_ns", |name| whole(name, |target| target.end_ns))?;
        columns.add("queue_delay_ns", |name| Ok(column(name, delays().collect())))?;
        columns.into_frame()
    }
}

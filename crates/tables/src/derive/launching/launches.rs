//! The table `launches`: kernels and copies with the API calls that launched them.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{constant_cat, integers};
use crate::columns::values::FrameValues;
use crate::derive::launching::launching_calls::{CALL_COLUMNS, LaunchingCall, LaunchingCalls, MARK_COLUMNS};
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, RowsWhen, WantedColumns, needed};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    owners: &Owner::WORK,
    rows_when: RowsWhen { all: &["regions"], any: &["kernels", "memory_copies"], searches: true },
    ..DerivedTable::new(&tables::launching::LAUNCHES, needs, Build::Alone(build))
};

/// Kinds of work that can be launched: kind, table and its key.
const TARGETS: [(&str, &str, &str); 2] = [("kernel", "kernels", "dispatch_id"), ("copy", "memory_copies", "copy_id")];

fn needs() -> Needs {
    let mut needs: Needs = TARGETS
        .iter()
        .map(|(_, table, key)| (*table, vec![*key, "gpu", "correlation_id", "start_ns", "end_ns", "valid"]))
        .collect();
    needs.extend([("regions", CALL_COLUMNS.to_vec()), ("marks", MARK_COLUMNS.to_vec())]);
    needs
}

/// Joins every valid kernel and copy with its call.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let calls = LaunchingCalls::from_frames(tables)?;
    let mut launches = DataFrame::default();
    for (kind, table, key) in TARGETS {
        let part = launched(needed(tables, table)?, kind, key, &calls, tables)?;
        launches = if launches.width() == 0 { part } else { launches.vstack(&part)? };
    }
    Ok(launches)
}

/// The rows of the valid rows of `targets` whose call was recorded.
fn launched(targets: &DataFrame, kind: &str, key: &str, calls: &LaunchingCalls, tables: &Frames) -> Result<DataFrame> {
    let numbers = calls.numbers_of(targets.column("correlation_id")?.i64()?);
    let is_launched = targets.column("valid")?.bool()? & &numbers.is_not_null();
    let (targets, numbers) = (targets.filter(&is_launched)?, numbers.filter(&is_launched)?);
    let target = |source: &str, name: &str| Ok(targets.column(source)?.clone().with_name(name.into()));
    let delays = |name: &str| {
        let starts = targets.integer("start_ns")?;
        let launched = starts.iter().zip(calls.each(&numbers));
        let delays = launched.map(|(start, call)| Some(start?.saturating_sub(call?.end_ns)));
        Ok(integers(name, delays))
    };
    let of_call = |name: &str, value: fn(LaunchingCall) -> Option<i64>| {
        let values = calls.each(&numbers).map(|call| call.and_then(value));
        Ok(integers(name, values))
    };
    let mut columns = WantedColumns::new(tables, DECLARATION.table.name);
    columns.add("correlation_id", |name| target(name, name))?;
    columns.add("api_name", |name| calls.names(name, numbers.iter()))?;
    columns.add("tid", |name| of_call(name, |call| call.tid))?;
    columns.add("gpu", |name| target(name, name))?;
    columns.add("kind", |name| Ok(constant_cat(name, Some(kind), numbers.len())?))?;
    columns.add("target_id", |name| target(key, name))?;
    columns.add("api_start_ns", |name| of_call(name, |call| Some(call.start_ns)))?;
    columns.add("api_end_ns", |name| of_call(name, |call| Some(call.end_ns)))?;
    columns.add("start_ns", |name| target(name, name))?;
    columns.add("end_ns", |name| target(name, name))?;
    columns.add("queue_delay_ns", delays)?;
    columns.into_frame()
}

//! The table `allocation_lifetimes`: the time of each allocation and of its end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{constant_cat, dictionary_column, integers};
use crate::columns::values::FrameValues;
use crate::derive::memory::allocation_pairs::{PairedOperation, paired};
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, column, needed};
use wavesieve_model::analysis::allocations::{Action, AllocationEnd};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    needs_of: Some(needs_of),
    rows_when: RowsWhen::all(&["memory_allocations"]).if_found(),
    ..DerivedTable::new(&tables::memory::ALLOCATION_LIFETIMES, needs, Build::Alone(build))
};

/// Words for the fates.
const FATES: [&str; 6] = ["live", "freed", "reallocated", "replaced", "unpaired", "unmatched_free"];

/// Columns of the operation.
const OF_OPERATION: [&str; 6] = ["alloc_id", "address", "bytes", "agent_id", "tid", "correlation_id"];

/// The column with the names of calls.
const API_NAME: &str = "api_name";

/// Columns that identify calls.
const CALLS: [&str; 7] = ["region_id", "domain", "name", "correlation_id", "start_ns", "end_ns", "valid"];

fn needs() -> Needs {
    let mut columns = OF_OPERATION.to_vec();
    columns.extend(["operation", "level", "gpu", "live_bytes", "start_ns", "end_ns", "duration_ns", "valid"]);
    vec![("memory_allocations", columns), ("regions", CALLS.to_vec())]
}

/// Like [`needs`]; if the names of calls are not requested, the table is built without that column.
fn needs_of(wanted: &BTreeSet<&'static str>) -> Needs {
    let mut needs = needs();
    needs.retain(|(table, _)| *table != "regions" || wanted.contains(API_NAME));
    needs
}

/// Pairs allocations with the operations that ended them.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let allocations = needed(tables, "memory_allocations")?;
    let durations = allocations.column("duration_ns")?.i64()?;
    let ids = allocations.column("alloc_id")?.i64()?;
    let mut parts = Vec::new();
    for (level, operations, _) in paired(allocations)?.levels {
        let listed: Vec<&PairedOperation> = operations.iter().filter(|operation| word(operation).is_some()).collect();
        let ended_by = |paired: &PairedOperation| match paired.fate {
            AllocationEnd::Freed(by) | AllocationEnd::Reallocated(by) | AllocationEnd::Replaced(by) => {
                operations.get(by)
            }
            _ => None,
        };
        let rows: IdxCa = listed.iter().map(|paired| Some(paired.row)).collect();
        let mut frame = allocations.select(OF_OPERATION)?.take(&rows)?;
        let released = |paired: &PairedOperation| ended_by(paired).filter(|by| by.operation.action == Action::Free);
        let took = |row: u32| durations.get(row as usize).unwrap_or(0);
        let call_ns =
            |paired: &PairedOperation| took(paired.row).saturating_add(released(paired).map_or(0, |by| took(by.row)));
        frame.hstack_mut(&[
            constant_cat("level", Some(level), listed.len())?,
            integers("gpu", listed.iter().map(|paired| paired.operation.place)),
            column("time_ns", listed.iter().map(|paired| paired.operation.time_ns).collect()),
            integers("ended_ns", listed.iter().map(|paired| Some(ended_by(paired)?.operation.time_ns))),
            integers("ended_by", listed.iter().map(|paired| ids.get(ended_by(paired)?.row as usize))),
            dictionary_column("fate", &FATES, listed.iter().map(|paired| word(paired)))?,
            column("call_ns", listed.iter().map(|paired| call_ns(paired)).collect()),
        ])?;
        parts.push(frame);
    }
    let mut parts = parts.into_iter();
    let mut frame = parts.next().unwrap_or_default();
    for part in parts {
        frame.vstack_mut(&part)?;
    }
    if let Some(regions) = tables.get("regions") {
        let names = outermost_calls(regions, frame.column("correlation_id")?)?;
        frame.with_column(names)?;
    }
    Ok(frame)
}

/// The name of the outermost call with each correlation id: the one that starts first, then the one that ends last.
fn outermost_calls(regions: &DataFrame, ids: &Column) -> Result<Column> {
    let wanted = ids.as_materialized_series().drop_nulls().unique()?.implode()?.into_series();
    let is_call = col("valid").and(col("domain").neq(lit("marker")));
    let calls =
        regions.clone().lazy().filter(is_call.and(col("correlation_id").is_in(lit(wanted), false))).collect()?;
    let [of_calls, keys, starts, ends] = calls.integers(["correlation_id", "region_id", "start_ns", "end_ns"])?;
    let mut outermost: BTreeMap<Option<i64>, (CallOrder, IdxSize)> = BTreeMap::new();
    let rows = of_calls.iter().zip(starts.iter()).zip(ends.iter()).zip(keys.iter());
    for (row, (((id, start_ns), end_ns), region_id)) in (0..).zip(rows) {
        let place = (start_ns, Reverse(end_ns), region_id);
        let first = outermost.entry(id).or_insert((place, row));
        *first = (place, row).min(*first);
    }
    let rows: IdxCa = ids.i64()?.iter().map(|id| Some(outermost.get(&Some(id?))?.1)).collect();
    Ok(calls.column("name")?.take(&rows)?.with_name(API_NAME.into()))
}

/// Key that orders calls with the same correlation id.
type CallOrder = (Option<i64>, Reverse<Option<i64>>, Option<i64>);

/// Index of the word for the fate of a listed operation: allocations, and releases of unknown allocations.
fn word(paired: &PairedOperation) -> Option<usize> {
    match paired.fate {
        AllocationEnd::Live => Some(0),
        AllocationEnd::Freed(_) => Some(1),
        AllocationEnd::Reallocated(_) => Some(2),
        AllocationEnd::Replaced(_) => Some(3),
        AllocationEnd::Unpaired => Some(4),
        AllocationEnd::UnmatchedFree => Some(5),
        AllocationEnd::Nothing => None,
    }
}

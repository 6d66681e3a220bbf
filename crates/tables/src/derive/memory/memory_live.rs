//! The table `memory_live`: live memory over time.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{constant_cat, integers};
use crate::derive::memory::allocation_pairs::paired;
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, column, needed};
use wavesieve_model::analysis::allocations::Level;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["memory_allocations"]),
    ..DerivedTable::new(&tables::memory::MEMORY_LIVE, needs, Build::Alone(build))
};

/// The source columns that it needs.
pub fn needs() -> Needs {
    let columns =
        vec!["alloc_id", "operation", "level", "gpu", "address", "bytes", "live_bytes", "start_ns", "end_ns", "valid"];
    vec![("memory_allocations", columns)]
}

/// Adds up allocated and freed bytes.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let allocations = needed(tables, "memory_allocations")?;
    let mut parts = Vec::new();
    for (level, operations, changes) in paired(allocations)?.levels {
        let rows: IdxCa = changes.iter().map(|change| Some(operations.get(change.operation)?.row)).collect();
        let ids = allocations.column("alloc_id")?.take(&rows)?;
        let of = |name: &str, value: fn(&Level) -> i64| column(name, changes.iter().map(value).collect());
        parts.push(DataFrame::new_infer_height(vec![
            ids,
            constant_cat("level", Some(level), changes.len())?,
            integers("gpu", changes.iter().map(|change| change.place)),
            of("time_ns", |change| change.time_ns),
            of("change_bytes", |change| change.change_bytes),
            of("live_bytes", |change| change.live_bytes),
            of("allocations", |change| change.allocations),
        ])?);
    }
    let mut parts = parts.into_iter();
    let mut frame = parts.next().unwrap_or_default();
    for part in parts {
        frame.vstack_mut(&part)?;
    }
    Ok(frame)
}

//! `graph_launches` from rocpd_graph_launch and `hip_events` from rocpd_hip_event.

use anyhow::Result;
use polars::prelude::*;

use super::dispatches::put_correlation;
use super::hint;
use crate::common::sqlite::{Columns, Condition, integer, text};
use crate::rocpd::assembly::Assembly;
use wavesieve_tables::columns::frames::categorical;

/// Columns that may name the operation of a HIP event in words.
const OPERATIONS: &[&str] = &["operation", "name", "type"];

/// Assembles the graph launches.
pub(crate) fn read_graph_launches(assembly: &mut Assembly<'_>) -> Result<()> {
    let columns = read(assembly, "graph_launch", &["graph_exec_id", "kernel_dispatch_count"], &[])?;
    assembly.put("graph_launch_id", columns.integers("id").into_series());
    assembly.put("graph_exec_id", columns.integers("graph_exec_id").into_series());
    assembly.put("kernels", columns.integers("kernel_dispatch_count").into_series());
    put_common(assembly, &columns)
}

/// Assembles the records and waits of HIP events.
pub(crate) fn read_hip_events(assembly: &mut Assembly<'_>) -> Result<()> {
    let numbers = ["name_id", "operation_id", "hip_event_handle", "event_handle", "source_queue_id"];
    let columns = read(assembly, "hip_event", &numbers, OPERATIONS)?;
    assembly.put("hip_event_id", columns.integers("id").into_series());
    put_operation(assembly, &columns)?;
    let handles = columns.integers("hip_event_handle");
    let handles = if handles.null_count() == columns.height { columns.integers("event_handle") } else { handles };
    assembly.put("event_handle", handles.into_series());
    assembly.put("source_queue_id", columns.integers("source_queue_id").into_series());
    put_common(assembly, &columns)
}

fn read(assembly: &mut Assembly<'_>, base: &str, numbers: &[&'static str], words: &[&'static str]) -> Result<Columns> {
    let common = ["agent_id", "queue_id", "stream_id", "tid", "event_id", "start", "end"];
    let mut wanted: Vec<_> = common.iter().chain(numbers).map(|name| integer(name)).collect();
    wanted.extend(words.iter().map(|name| text(name)));
    let condition = hint::condition(assembly, base, Condition::all());
    let columns = assembly.database.read_where(base, &wanted, condition, assembly.context.threads)?;
    assembly.absorb(base, &columns);
    assembly.set_height(columns.height);
    Ok(columns)
}

fn put_common(assembly: &mut Assembly<'_>, columns: &Columns) -> Result<()> {
    let ids = columns.integers("id");
    let agents = columns.integers("agent_id");
    assembly.put("agent_id", agents.clone().into_series());
    assembly.put_gpu(&agents, &ids);
    assembly.put_place(columns)?;
    put_correlation(assembly, &columns.integers("event_id"), &ids)?;
    assembly.put_times(&columns.integers("start"), &columns.integers("end"));
    Ok(())
}

/// The operation: a string of the string table, otherwise a word in the row.
fn put_operation(assembly: &mut Assembly<'_>, columns: &Columns) -> Result<()> {
    if !assembly.wants(&["operation"]) {
        return Ok(());
    }
    let strings = assembly.lookups.strings(assembly.database, assembly.context.threads)?;
    let ids: Vec<Int64Chunked> = ["name_id", "operation_id"].iter().map(|name| columns.integers(name)).collect();
    let words: Vec<StringChunked> = OPERATIONS.iter().map(|name| columns.texts(name)).collect();
    let operation = |row: usize| {
        let named = ids.iter().find_map(|ids| strings.get(ids.get(row)));
        named.or_else(|| words.iter().find_map(|words| words.get(row))).unwrap_or("UNKNOWN")
    };
    let operations = (0..columns.height).map(|row| Some(operation(row)));
    let operations = StringChunked::from_iter_options("operation".into(), operations).into_series();
    assembly.put("operation", operations.cast(&categorical())?);
    Ok(())
}

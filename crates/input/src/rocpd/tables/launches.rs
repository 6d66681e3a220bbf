//! `graph_launches` from rocpd_graph_launch and `hip_events` from rocpd_hip_event.

use anyhow::Result;
use polars::prelude::*;

use super::event_columns::put_correlation;
use crate::common::sqlite::{Columns, Condition};
use crate::common::{Rule, Source};
use crate::rocpd::assembly::Assembly;
use wavesieve_tables::columns::frames::categorical;

const LAUNCHES: &[Source<&'static str>] = &[
    ("id", &["graph_launch_id"], Rule::Copied),
    ("graph_exec_id", &["graph_exec_id"], Rule::Copied),
    ("kernel_dispatch_count", &["kernels"], Rule::Copied),
    ("agent_id", &["agent_id", "gpu", "device"], Rule::Copied),
];

const EVENTS: &[Source<&'static str>] = &[
    ("id", &["hip_event_id"], Rule::Copied),
    ("name_id", &["operation"], Rule::Used),
    ("operation_id", &["operation"], Rule::Used),
    ("operation", &["operation"], Rule::UsedText),
    ("name", &["operation"], Rule::UsedText),
    ("type", &["operation"], Rule::UsedText),
    ("hip_event_handle", &["event_handle"], Rule::Used),
    ("event_handle", &["event_handle"], Rule::Used),
    ("source_queue_id", &["source_queue_id"], Rule::Copied),
    ("agent_id", &["agent_id", "gpu", "device"], Rule::Copied),
];

/// Assembles the graph launches.
pub(crate) fn read_graph_launches(assembly: &mut Assembly<'_>) -> Result<()> {
    read(assembly, "graph_launch", LAUNCHES).map(drop)
}

/// Assembles the records and waits of HIP events.
pub(crate) fn read_hip_events(assembly: &mut Assembly<'_>) -> Result<()> {
    let columns = read(assembly, "hip_event", EVENTS)?;
    put_operation(assembly, &columns)?;
    let handles = columns.integers("hip_event_handle");
    let handles = if handles.null_count() == columns.height { columns.integers("event_handle") } else { handles };
    assembly.put("event_handle", handles);
    Ok(())
}

fn read(assembly: &mut Assembly<'_>, base: &str, layout: &[Source<&'static str>]) -> Result<Columns> {
    let columns = assembly.activity(base, layout, Condition::all())?;
    let ids = columns.integers("id");
    assembly.put_gpu(&columns.integers("agent_id"), &ids);
    put_correlation(assembly, &columns, &ids)?;
    assembly.put_times(&columns.integers("start"), &columns.integers("end"));
    Ok(columns)
}

/// The operation: a string of the string table, otherwise a word in the row.
fn put_operation(assembly: &mut Assembly<'_>, columns: &Columns) -> Result<()> {
    if !assembly.wants(&["operation"]) {
        return Ok(());
    }
    let strings = assembly.lookups.strings(assembly.database, assembly.context.threads)?;
    let ids = ["name_id", "operation_id"].map(|name| columns.integers(name));
    let words = ["operation", "name", "type"].map(|name| columns.texts(name));
    let operation = |row: usize| {
        let named = ids.iter().find_map(|ids| strings.get(ids.get(row)));
        named.or_else(|| words.iter().find_map(|words| words.get(row))).unwrap_or("UNKNOWN")
    };
    let operations = (0..columns.height).map(|row| Some(operation(row)));
    let operations = StringChunked::from_iter_options("operation".into(), operations).into_series();
    assembly.put("operation", operations.cast(&categorical())?);
    Ok(())
}

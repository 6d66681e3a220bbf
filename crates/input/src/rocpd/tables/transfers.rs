//! `memory_copies` from rocpd_memory_copy and `memory_allocations` from rocpd_memory_allocate.

use anyhow::Result;
use polars::prelude::*;

use super::dispatches::put_correlation;
use super::hint;
use crate::common::sqlite::{Columns, Condition, Wanted, integer, text};
use crate::common::{count_first, direction_column, or_else, put_copy_gpus, zeros};
use crate::rocpd::assembly::Assembly;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::text_column_from_dictionary;

const COPY_SOURCES: &[(&[&str], &str)] = &[
    (&["direction"], "name_id"),
    (&["src_agent_id", "direction", "gpu", "peer_gpu", "device"], "src_agent_id"),
    (&["dst_agent_id", "direction", "gpu", "peer_gpu", "device"], "dst_agent_id"),
    (&["bytes"], "size"),
    (&["stream_id"], "stream_id"),
    (&["tid"], "tid"),
    (&["correlation_id"], "event_id"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "start"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "end"),
    (&["graph_exec_id"], "graph_exec_id"),
];

/// Assembles the copies.
pub(crate) fn read_copies(assembly: &mut Assembly<'_>) -> Result<()> {
    let wanted: Vec<Wanted> = assembly.sources(COPY_SOURCES).into_iter().map(integer).collect();
    let condition = hint::condition(assembly, "memory_copy", Condition::all());
    let columns = assembly.database.read_where("memory_copy", &wanted, condition, assembly.context.threads)?;
    assembly.absorb("memory_copy", &columns);
    assembly.set_height(columns.height);
    let ids = columns.integers("id");
    let (source, destination) = (columns.integers("src_agent_id"), columns.integers("dst_agent_id"));
    assembly.put("copy_id", ids.clone().into_series());
    assembly.put("src_agent_id", source.clone().into_series());
    assembly.put("dst_agent_id", destination.clone().into_series());
    put_copy_gpus(assembly, &source, &destination);
    if assembly.wants(&["direction"]) {
        let strings = assembly.lookups.strings(assembly.database, assembly.context.threads)?;
        let names = columns.integers("name_id");
        let names = names.iter().map(|name| strings.get(name));
        let column = direction_column(assembly.context.process, names, &source, &destination)?;
        assembly.put("direction", column);
    }
    assembly.put("bytes", columns.integers("size").into_series());
    assembly.put_place(&columns)?;
    put_correlation(assembly, &columns.integers("event_id"), &ids)?;
    assembly.put_times(&columns.integers("start"), &columns.integers("end"));
    let graphs = columns.integers("graph_exec_id");
    let graphs: Int64Chunked = graphs.iter().map(|graph| graph.filter(|graph| *graph != 0)).collect_ca("".into());
    assembly.put("graph_exec_id", graphs.into_series());
    Ok(())
}

const ALLOCATION_SOURCES: &[(&[&str], &str)] = &[
    (&["agent_id", "gpu"], "agent_id"),
    (&["address"], "address"),
    (&["bytes"], "size"),
    (&["queue_id"], "queue_id"),
    (&["stream_id"], "stream_id"),
    (&["tid"], "tid"),
    (&["correlation_id"], "event_id"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "start"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "end"),
];

/// Assembles the allocations, frees and scratch operations.
pub(crate) fn read_allocations(assembly: &mut Assembly<'_>) -> Result<()> {
    let mut wanted: Vec<Wanted> = assembly.sources(ALLOCATION_SOURCES).into_iter().map(integer).collect();
    for (canonical, source) in [("operation", "type"), ("level", "level"), ("flags", "extdata")] {
        if assembly.wants(&[canonical]) {
            wanted.push(text(source));
        }
    }
    let condition = hint::condition(assembly, "memory_allocate", Condition::all());
    let columns = assembly.database.read_where("memory_allocate", &wanted, condition, assembly.context.threads)?;
    assembly.absorb("memory_allocate", &columns);
    assembly.set_height(columns.height);
    let ids = columns.integers("id");
    assembly.put("alloc_id", ids.clone().into_series());
    put_words(assembly, "operation", &columns, "type")?;
    put_words(assembly, "level", &columns, "level")?;
    let agents = columns.integers("agent_id");
    assembly.put("agent_id", agents.clone().into_series());
    assembly.put_gpu(&agents, &ids);
    assembly.put("address", columns.integers("address").into_series());
    assembly.put("bytes", or_else(&columns.integers("size"), &zeros(columns.height)).into_series());
    if assembly.wants(&["flags"]) {
        let flags: Int64Chunked = columns.texts("extdata").iter().map(flags).collect_ca("flags".into());
        assembly.put("flags", flags.into_series());
    }
    assembly.put_place(&columns)?;
    put_correlation(assembly, &columns.integers("event_id"), &ids)?;
    assembly.put_times(&columns.integers("start"), &columns.integers("end"));
    let unknown = columns.integers("size").iter().map(|size| size.is_none()).collect::<Vec<_>>();
    if assembly.wants(&["bytes"]) {
        let (count, first) = count_first(unknown.into_iter(), &ids);
        assembly.note("missing_size", Severity::Info, count, first, "allocations without a size count as 0 bytes");
    }
    Ok(())
}

fn put_words(assembly: &mut Assembly<'_>, name: &'static str, columns: &Columns, source: &str) -> Result<()> {
    assembly.put_with(name, || {
        let words = columns.texts(source);
        let words: Vec<Option<String>> = words.iter().map(|word| Some(word.unwrap_or("UNKNOWN").to_owned())).collect();
        let column = text_column_from_dictionary(name, &words, (0..words.len()).map(Some))?;
        Ok(column.cast(&wavesieve_tables::columns::frames::categorical())?)
    })
}

fn flags(details: Option<&str>) -> Option<i64> {
    let details = details.filter(|text| text.contains("flags"))?;
    let details: serde_json::Value = serde_json::from_str(details).ok()?;
    let flags = details.get("flags")?;
    flags.as_i64().or_else(|| flags.as_str()?.trim().parse().ok())
}

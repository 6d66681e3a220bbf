//! The tables that describe a process: queues, streams, threads, code objects, kernel symbols.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::dispatches::keyed_texts;
use crate::rocprofv3_json::parsing::records::CodeObject;
use crate::rocprofv3_json::reading::Reading;
use crate::rocprofv3_json::symbols::Symbols;

/// Assembles `queues` or `streams`: the ids in the records.
pub(crate) fn read_ids(reading: &mut Reading<'_>, key: &'static str) -> Result<()> {
    let (census, findings) = reading.capture.census()?;
    reading.findings.extend(findings);
    let ids = if key == "queue_id" { &census.queues } else { &census.streams };
    reading.builder.set_height(ids.len());
    reading.put(key, Int64Chunked::from_iter_values("".into(), ids.iter().copied()));
    Ok(())
}

/// Assembles `threads`: the threads in the records, with the names from the program.
pub(crate) fn read_threads(reading: &mut Reading<'_>) -> Result<()> {
    let (census, findings) = reading.capture.census()?;
    reading.findings.extend(findings);
    reading.builder.set_height(census.threads.len());
    reading.put("tid", Int64Chunked::from_iter_values("".into(), census.threads.iter().copied()));
    if reading.builder.wants(&["name"]) && !census.naming_calls.is_empty() {
        let texts: BTreeMap<i64, String> = keyed_texts(reading, "strings.marker_api")?.into_iter().collect();
        let name = |thread: &i64| texts.get(census.naming_calls.get(thread)?).cloned();
        let names = StringChunked::from_iter_options("".into(), census.threads.iter().map(name));
        reading.builder.put("name", names.into_series());
    }
    Ok(())
}

/// Assembles `code_objects`, without the placeholder at the start of the list.
pub(crate) fn read_code_objects(reading: &mut Reading<'_>) -> Result<()> {
    let mut rows = reading.capture.gather("code_objects", &mut reading.findings, |object: CodeObject| object)?;
    let numbers = |row: &CodeObject| [row.code_object_id, row.agent_id, row.load_base, row.load_size];
    rows.retain(|row| row.uri.filled().is_some() || numbers(row).into_iter().any(|number| number.nonzero().is_some()));
    reading.builder.set_height(rows.len());
    let column = |at: usize| -> Int64Chunked {
        rows.iter().map(|row| numbers(row).get(at).and_then(|number| number.0)).collect_ca("".into())
    };
    let ids: Int64Chunked = column(0).iter().map(|id| Some(id.unwrap_or(0))).collect_ca("".into());
    if reading.builder.wants(&["agent_id"]) {
        let agents = reading.agents(&column(1), &ids);
        reading.put("agent_id", agents);
    }
    reading.put("load_base", column(2));
    reading.put("load_size", column(3));
    reading.put("code_object_id", ids);
    let uris = StringChunked::from_iter_options("".into(), rows.iter().map(|row| row.uri.filled()));
    reading.builder.put("uri", uris.into_series());
    Ok(())
}

/// Assembles `kernel_symbols`.
pub(crate) fn read_kernel_symbols(reading: &mut Reading<'_>) -> Result<()> {
    let (symbols, findings) = reading.capture.symbols()?;
    reading.findings.extend(findings);
    reading.builder.set_height(symbols.ids.len());
    reading.put("kernel_id", Int64Chunked::from_slice("".into(), &symbols.ids));
    reading.builder.put_symbol_names(&symbols.names)?;
    for (name, values) in Symbols::COLUMNS.into_iter().zip(&symbols.columns) {
        reading.put(name, Int64Chunked::from_iter_options("".into(), values.iter().copied()));
    }
    Ok(())
}

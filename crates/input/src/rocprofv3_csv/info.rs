//! The tables that describe a process: queues, streams, threads, kernel symbols.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use super::reading::Reading;
use super::symbols::Symbols;

/// Assembles a table of the ids in rows.
pub(crate) fn read_ids(reading: &mut Reading<'_>, key: &'static str, ids: &BTreeSet<i64>) {
    reading.builder.set_height(ids.len());
    reading.put(key, Int64Chunked::from_iter_values("".into(), ids.iter().copied()));
}

/// Assembles `kernel_symbols`.
pub(crate) fn read_kernel_symbols(reading: &mut Reading<'_>) -> Result<()> {
    let symbols = &reading.capture.symbols;
    reading.builder.set_height(symbols.ids.len());
    reading.put("kernel_id", Int64Chunked::from_slice("".into(), &symbols.ids));
    reading.builder.put_symbol_names(&symbols.names.iter().cloned().collect())?;
    for (name, values) in Symbols::COLUMNS.into_iter().zip(&symbols.columns) {
        reading.builder.put_integers(name, values.iter().copied());
    }
    Ok(())
}

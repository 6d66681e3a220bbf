//! The tables that describe a process: queues, streams, threads, kernel symbols.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use super::reading::Reading;
use super::symbols::{Symbols, forms};
use wavesieve_tables::columns::frames::dictionary_column;

/// Assembles a table of ids that rows name.
pub(crate) fn read_ids(reading: &mut Reading<'_>, key: &'static str, ids: &BTreeSet<i64>) {
    reading.builder.set_height(ids.len());
    reading.put(key, Int64Chunked::from_iter_values("".into(), ids.iter().copied()));
}

/// Assembles `kernel_symbols`.
pub(crate) fn read_kernel_symbols(reading: &mut Reading<'_>) -> Result<()> {
    let symbols = &reading.capture.symbols;
    reading.builder.set_height(symbols.ids.len());
    reading.put("kernel_id", Int64Chunked::from_slice("".into(), &symbols.ids));
    if reading.builder.wants(&["kernel_name", "short_name", "base_name", "mangled_name", "category"]) {
        let names = forms(symbols.names.iter().cloned(), reading.builder.context.categories);
        for (name, values) in names.columns() {
            reading.builder.put_with(name, || Ok(dictionary_column(name, values, (0..values.len()).map(Some))?))?;
        }
    }
    for (name, values) in Symbols::COLUMNS.into_iter().zip(&symbols.columns) {
        reading.put(name, Int64Chunked::from_iter_options("".into(), values.iter().copied()));
    }
    Ok(())
}

//! `memory_allocations`.

use anyhow::Result;
use polars::prelude::*;

use super::{Dictionary, column, ids, put_common, text};
use crate::common::{TableBuilder, allocation_words, or};
use crate::perfetto::kinds::Role;
use crate::perfetto::processes::{Assembled, Process};
use crate::perfetto::rows::Field;
use wavesieve_tables::columns::frames::dictionary_column;

/// Assembles the operations on memory.
pub(crate) fn read_allocations(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(rows) = process.rows(Role::Allocation) else { return Ok(()) };
    builder.set_height(rows.height());
    let numbers = ids(rows);
    let words = |level: bool| {
        Dictionary::of(rows.column(Field::Name), |name| {
            let name = text(&file.names, name).unwrap_or_default();
            let (operation, of_level) = allocation_words(name, name.starts_with("SCRATCH"));
            Some(if level { of_level } else { operation }.to_owned())
        })
    };
    for (name, is_level) in [("operation", false), ("level", true)] {
        builder.put_with(name, || {
            let words = words(is_level);
            Ok(dictionary_column(name, &words.texts, words.places.iter().copied())?)
        })?;
    }
    let agents = column(rows, Field::Agent);
    builder.put_gpu(&agents, &numbers);
    builder.put("agent_id", agents.into_series());
    builder.put("alloc_id", numbers.into_series());
    builder.put("bytes", or(&column(rows, Field::Bytes), 0).into_series());
    put_common(builder, rows);
    Ok(())
}

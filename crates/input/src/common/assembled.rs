//! Canonical tables of a process, for the adapters of all formats. A table that its role leaves empty, or that the format does not have, is
//! without rows.

use anyhow::Result;
use polars::prelude::IntoLazy;

use super::roles::is_left_out;
use super::table::TableBuilder;
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::columns::frames::{empty_frame, own_columns};
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

/// The rows that `assemble` returns. It returns `None` if the format does not have the table.
pub(crate) fn assembled<'a>(
    context: &'a ReadContext<'a>,
    table: &'static Table,
    columns: &'a [&'static Column],
    assemble: impl FnOnce(TableBuilder<'a>) -> Result<Option<Rows>>,
) -> Result<Rows> {
    let builder = || TableBuilder::new(context, table, columns);
    let rows = if is_left_out(context, table.name) { None } else { assemble(builder())? };
    Ok(rows.unwrap_or_else(|| no_rows(columns)))
}

/// The rows of a table that the format cannot fill.
pub(crate) fn no_rows(columns: &[&'static Column]) -> Rows {
    Rows::clean(empty_frame(columns).lazy())
}

/// The number of rows that `count` returns. It returns `None` if the table leaves out or joins rows: then the rows are read to count them.
pub(crate) fn counted(
    reader: &dyn ProcessReader,
    context: &ReadContext<'_>,
    table: &'static Table,
    count: impl FnOnce() -> Result<Option<RowCount>>,
) -> Result<RowCount> {
    if is_left_out(context, table.name) {
        return Ok(RowCount::default());
    }
    count()?.map_or_else(|| count_by_reading(reader, context, table), Ok)
}

/// Counts the rows of a table that is built from other tables, by reading its first columns.
pub(crate) fn count_by_reading(
    reader: &dyn ProcessReader,
    context: &ReadContext<'_>,
    table: &'static Table,
) -> Result<RowCount> {
    let columns: Vec<&'static Column> = own_columns(table).into_iter().take(2).collect();
    let rows = reader.read(context, table, &columns)?;
    Ok(RowCount { rows: rows.frame.collect()?.height() as u64, damage: rows.damage })
}

//! Rows of the small tables that describe a process and its agents.

use anyhow::Result;
use polars::prelude::{Int64Chunked, StringChunked};
use rusqlite::types::ValueRef;

use super::database::KEY;
use crate::common::sqlite::{
    ColumnKind, Columns, OpeningDatabase, TableShape, Values, Wanted, integer, printed, quoted,
};

/// A row: the columns of its table that have values.
#[derive(Debug, Default)]
pub(crate) struct InfoRow(Vec<(&'static str, Cell)>);

#[derive(Debug)]
enum Cell {
    Integer(i64),
    Text(String),
}

impl InfoRow {
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.0.iter().find_map(|(column, cell)| match cell {
            Cell::Integer(integer) if *column == name => Some(*integer),
            _ => None,
        })
    }

    /// The value of an integer column with a time; 0 counts as missing.
    pub fn time_ns(&self, name: &str) -> Option<i64> {
        self.integer(name).filter(|time| *time > 0)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.0.iter().find_map(|(column, cell)| match cell {
            Cell::Text(text) if *column == name => Some(text.clone()),
            _ => None,
        })
    }
}

/// The rows of a table in the order of their ids, with the ids and the `wanted` columns that the table has. A missing table has no rows.
pub(crate) fn info_rows(
    database: &OpeningDatabase,
    table: Option<&TableShape>,
    wanted: &[Wanted],
) -> Result<Vec<InfoRow>> {
    let Some(table) = table else { return Ok(Vec::new()) };
    match database.plain_columns(table, wanted) {
        Some(columns) => Ok(rows_of(&columns)),
        None => by_sqlite(database, table, wanted),
    }
}

fn rows_of(columns: &Columns) -> Vec<InfoRow> {
    let mut rows: Vec<InfoRow> = (0..columns.height).map(|_| InfoRow::default()).collect();
    for (name, values) in &columns.values {
        match values {
            Values::Integer(values) => put(&mut rows, name, integers_of(values)),
            Values::Text(values) => put(&mut rows, name, texts_of(values)),
            Values::Real(_) => {}
        }
    }
    rows
}

fn put(rows: &mut [InfoRow], name: &'static str, cells: impl Iterator<Item = Option<Cell>>) {
    for (row, cell) in rows.iter_mut().zip(cells) {
        row.0.extend(cell.map(|cell| (name, cell)));
    }
}

fn integers_of(values: &Int64Chunked) -> impl Iterator<Item = Option<Cell>> {
    values.iter().map(|value| value.map(Cell::Integer))
}

fn texts_of(values: &StringChunked) -> impl Iterator<Item = Option<Cell>> {
    values.iter().map(|value| value.map(|text| Cell::Text(text.to_owned())))
}

fn by_sqlite(database: &OpeningDatabase, table: &TableShape, wanted: &[Wanted]) -> Result<Vec<InfoRow>> {
    let key = integer(KEY);
    let columns: Vec<Wanted> =
        std::iter::once(key).chain(wanted.iter().copied()).filter(|wanted| table.has(wanted.name)).collect();
    let list: Vec<String> = columns.iter().map(|wanted| quoted(wanted.name)).collect();
    let order = if table.has(KEY) { "ORDER BY id" } else { "" };
    let sql = format!(include_str!("sql/rows.sql"), list = list.join(", "), table = quoted(&table.name), order = order);
    let mut statement = database.connection()?.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let cells = columns.iter().enumerate().filter_map(|(position, wanted)| {
            let value = row.get_ref(position).ok()?;
            let cell = match wanted.kind {
                ColumnKind::Integer | ColumnKind::Real => Cell::Integer(integer_of(value)?),
                ColumnKind::Text => Cell::Text(printed(value)?),
            };
            Some((wanted.name, cell))
        });
        found.push(InfoRow(cells.collect()));
    }
    Ok(found)
}

fn integer_of(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(integer) => Some(integer),
        ValueRef::Real(real) => Some(real as i64),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok()?.trim().parse().ok(),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

//! Requests: tables and their columns.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use polars::prelude::{DataFrame, DataType, Expr, LazyFrame, PolarsResult, col, lit};

use crate::columns::frames::{is_identity, with_constants};
use wavesieve_model::schema;
use wavesieve_model::schema::Table;
use wavesieve_model::schema::process::Process;

/// Requested columns of each table.
pub type Request = BTreeMap<&'static str, BTreeSet<&'static str>>;

/// Tables of one process: canonical columns without `process` and `rank`.
pub type ProcessTables = BTreeMap<&'static str, LazyFrame>;

/// A request for all columns of a table.
pub fn all_columns(table: &'static Table) -> BTreeSet<&'static str> {
    table.column_names().collect()
}

/// The columns of all requests together.
pub fn united<'a>(requests: impl IntoIterator<Item = &'a Request>) -> Request {
    let mut all = Request::new();
    for (name, columns) in requests.into_iter().flatten() {
        all.entry(name).or_default().extend(columns);
    }
    all
}

/// Names of the columns of a table that a request for `columns` returns, in canonical order.
pub fn columns_of(table: &'static Table, columns: &BTreeSet<&'static str>) -> impl Iterator<Item = &'static str> {
    table.column_names().filter(move |name| wanted(name, columns))
}

/// A built table without the columns that were not requested, which may take more memory than all others.
pub(crate) fn only_requested(frame: DataFrame, columns: Option<&BTreeSet<&'static str>>) -> PolarsResult<DataFrame> {
    let names = frame.get_column_names();
    let kept: Vec<_> = names
        .into_iter()
        .filter(|name| columns.is_some_and(|columns| columns.contains(name.as_str())))
        .cloned()
        .collect();
    // Without a column, the number of rows would be lost.
    if kept.is_empty() { Ok(frame) } else { frame.select(kept) }
}

/// The canonical table of that name.
///
/// # Errors
/// When no table has it, which is a defect.
pub fn known_table(name: &str) -> Result<&'static Table> {
    match schema::table(name) {
        Some(table) => Ok(table),
        None => bail!("internal: no canonical table is named {name}"),
    }
}

/// Whether a request for `columns` returns a column.
pub fn wanted(name: &str, columns: &BTreeSet<&'static str>) -> bool {
    is_identity(name) || columns.contains(name)
}

/// The requested columns of a table in canonical order, with `process` and `rank` first.
pub(crate) fn with_identity(
    frame: LazyFrame,
    process: &Process,
    name: &str,
    columns: &BTreeSet<&'static str>,
) -> LazyFrame {
    let Some(table) = schema::table(name) else { return frame };
    let names: Vec<&str> = columns_of(table, columns).collect();
    let identity = [("process", process.process), ("rank", process.rank)];
    // A missing column is reported when the plan runs.
    if names.len() > identity.len()
        && let Ok(Some(frame)) = with_constants(&frame, names.into_iter(), &identity)
    {
        return frame;
    }
    let selection: Vec<Expr> = table
        .columns
        .iter()
        .filter(|column| wanted(column.name, columns))
        .map(|column| match column.name {
            // Without the cast, the literal has the smallest type that fits it, which may differ between processes.
            "process" => lit(process.process).cast(DataType::Int64).alias("process"),
            "rank" => lit(process.rank).cast(DataType::Int64).alias("rank"),
            name => col(name),
        })
        .collect();
    // A frame of only literals would have one row: a column of the frame keeps its height.
    if selection.len() > 2 { frame.select(selection) } else { frame.with_columns(selection) }
}

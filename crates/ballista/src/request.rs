//! The request to this program.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A statement and the tables that it reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// `HOST:PORT` of the scheduler.
    pub(crate) scheduler: String,
    /// One SELECT.
    pub(crate) statement: String,
    /// The tables by name.
    pub(crate) tables: BTreeMap<String, Table>,
}

/// The source of the rows of a table.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Table {
    /// Parquet files at paths or addresses that are the same for all programs of the cluster, and a condition for the rows to keep.
    Files { files: Vec<String>, condition: Option<String> },
    /// A statement that returns the rows.
    Statement(String),
}

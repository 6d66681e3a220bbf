//! Reads columns of the tables of one partition.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::container::Partition;
use crate::input::common::sqlite::{self, Columns, Selection, TableShape, Wanted};

/// Key of every table.
const KEY: &str = "id";

/// One partition of a database file.
#[derive(Clone, Debug)]
pub struct Database {
    path: PathBuf,
    partition: Partition,
    process_row: Option<i64>,
}

impl Database {
    /// A partition of the file at `path`. With `process_row`, activity tables are restricted to rows of that process.
    pub fn new(path: &Path, partition: Partition, process_row: Option<i64>) -> Self {
        Self { path: path.to_owned(), partition, process_row }
    }

    /// The partition.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Reads the row id and the `wanted` columns of a table; those it lacks stay absent. A missing table has no rows.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn read(&self, base: &str, wanted: &[Wanted], threads: usize) -> Result<Columns> {
        self.read_where(base, wanted, "", threads)
    }

    /// As [`Database::read`], with a condition in SQL over the columns of the table.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn read_where(&self, base: &str, wanted: &[Wanted], condition: &str, threads: usize) -> Result<Columns> {
        let Some(table) = self.partition.table(base).filter(|table| table.has(KEY)) else {
            return Ok(Columns::default());
        };
        let condition = self.condition(table, condition);
        sqlite::read(&self.path, Selection { table, key: KEY, condition: &condition }, wanted, threads)
    }

    /// Number of rows of a table, 0 when it is missing. Behind a damaged page only the rows before it are counted, and
    /// the cause is given.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn count(&self, base: &str, condition: &str) -> Result<(u64, Option<String>)> {
        let Some(table) = self.partition.table(base) else { return Ok((0, None)) };
        let condition = self.condition(table, condition);
        sqlite::count(&self.path, Selection { table, key: KEY, condition: &condition })
    }

    fn condition(&self, table: &TableShape, condition: &str) -> String {
        let own = self.process_row.filter(|_| table.has("pid")).map(|row| format!("pid = {row}"));
        let given = Some(condition).filter(|condition| !condition.is_empty()).map(|condition| format!("({condition})"));
        own.into_iter().chain(given).collect::<Vec<String>>().join(" AND ")
    }
}

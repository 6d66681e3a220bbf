//! Creates the tables of a partition and copies rows into them.

use anyhow::{Context, Result};
use rusqlite::Connection;

use super::marks::{Mark, keep};
use super::processes::KeptProcess;
use super::structure::{Partition, SOURCE, SourceTable};
use wavesieve_input::{RANK_TAG, quoted};

/// Table of processes, and its columns that may hold secrets: the recorded environment and the profiler's configuration.
const PROCESSES: &str = "info_process";
const SECRETS: [&str; 2] = ["environment", "extdata"];
const METADATA: &str = "metadata";

/// How the tables of a partition are copied.
pub(super) struct Copying<'a> {
    /// SQLite with the output as `main` and the input as `source`.
    pub connection: &'a Connection,
    pub partition: &'a Partition,
    /// Whether the recorded environment and the profiler's configuration are copied.
    pub keep_environment: bool,
}

impl Copying<'_> {
    /// Creates all tables with the declarations of the input.
    pub(super) fn create(&self) -> Result<()> {
        for table in &self.partition.tables {
            let created = self.connection.execute_batch(&table.sql);
            created.with_context(|| format!("cannot create {}", table.name))?;
        }
        Ok(())
    }

    /// Copies the rows of a table that meet a condition, or all of them. Returns their number.
    pub(super) fn copy(&self, table: &SourceTable, condition: Option<&str>) -> Result<usize> {
        self.copy_changed(table, "", condition, &|_| None)
    }

    /// Copies rows as [`Copying::copy`] does, joined with others, and notes what the rows refer to. `changed` returns
    /// expressions that replace columns; such columns refer to nothing.
    pub(super) fn copy_marked(
        &self,
        table: &SourceTable,
        join: &str,
        condition: Option<&str>,
        changed: &dyn Fn(&str) -> Option<String>,
    ) -> Result<usize> {
        let names = table.columns.iter().map(|column| column.name.as_str()).filter(|name| changed(name).is_none());
        let marked: Vec<(Mark, String)> =
            names.filter_map(|name| Some((Mark::of_column(name)?, quoted(name)))).collect();
        // One call notes all references of a row.
        let noting = marked.first().map(|(_, name)| name.clone()).zip(keep(&marked));
        let noted =
            |column: &str| noting.as_ref().filter(|(name, _)| *name == quoted(column)).map(|(_, call)| call.clone());
        self.copy_changed(table, join, condition, &|column| changed(column).or_else(|| noted(column)))
    }

    fn copy_changed(
        &self,
        table: &SourceTable,
        join: &str,
        condition: Option<&str>,
        changed: &dyn Fn(&str) -> Option<String>,
    ) -> Result<usize> {
        let is_secret = |column: &str| table.base == PROCESSES && SECRETS.contains(&column) && !self.keep_environment;
        let changed = |column: &str| changed(column).or_else(|| is_secret(column).then(|| "'{}'".to_owned()));
        let name = quoted(&table.name);
        let is_changed = table.columns.iter().any(|column| changed(&column.name).is_some());
        // Whole rows are copied without being taken apart.
        let copy = if table.is_plain && !is_changed && join.is_empty() {
            format!("INSERT INTO main.{name} SELECT * FROM {SOURCE}.{name}")
        } else {
            let columns: Vec<String> = table.columns.iter().map(|column| quoted(&column.name)).collect();
            let values = table.columns.iter().zip(&columns);
            let values: Vec<String> =
                values.map(|(column, own)| changed(&column.name).unwrap_or_else(|| own.clone())).collect();
            let (columns, values) = (columns.join(", "), values.join(", "));
            format!("INSERT INTO main.{name} ({columns}) SELECT {values} FROM {SOURCE}.{name} {join}")
        };
        let sql = condition.map_or(copy.clone(), |condition| format!("{copy} WHERE {condition}"));
        self.execute(&sql, table)
    }

    /// Runs a statement that is about a table. Returns how many rows it wrote.
    pub(super) fn execute(&self, sql: &str, table: &SourceTable) -> Result<usize> {
        self.connection.execute(sql, []).with_context(|| format!("cannot copy {}", table.name))
    }

    /// Copies the metadata, with the ranks of processes.
    pub(super) fn copy_metadata(&self, processes: &[KeptProcess<'_>]) -> Result<usize> {
        let Some(table) = self.partition.table(METADATA) else { return Ok(0) };
        if !table.has_all(&["tag", "value"]) {
            return self.copy(table, None);
        }
        let mut rows = self.copy(table, Some(&format!("tag NOT LIKE '{RANK_TAG}%'")))?;
        for process in processes {
            for row in self.rows_of(process)? {
                if let Some(rank) = process.rank {
                    let insert = format!("INSERT INTO main.{} (tag, value) VALUES (?1, ?2)", quoted(&table.name));
                    let values = [format!("{RANK_TAG}{row}"), rank.to_string()];
                    rows += self.connection.execute(&insert, values).context("cannot write the metadata")?;
                }
            }
        }
        Ok(rows)
    }

    /// Row ids of a process.
    pub(super) fn rows_of(&self, process: &KeptProcess<'_>) -> Result<Vec<i64>> {
        let Some(table) = self.partition.table(PROCESSES).filter(|table| table.has_all(&["id", "pid"])) else {
            return Ok(Vec::new());
        };
        let select = format!("SELECT id FROM {SOURCE}.{} WHERE pid = ?1 ORDER BY id", quoted(&table.name));
        let mut statement = self.connection.prepare(&select)?;
        let rows = statement.query_map([process.pid], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Copies everything.
    pub(super) fn copy_all(&self, processes: &[KeptProcess<'_>]) -> Result<Copied> {
        let mut copied = Copied::default();
        for table in &self.partition.tables {
            let rows = match table.base.as_str() {
                METADATA => self.copy_metadata(processes)?,
                _ => self.copy(table, None)?,
            };
            copied.add(table, rows);
        }
        Ok(copied)
    }
}

/// Rows that were copied.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copied {
    pub rows: usize,
    /// Rows with a time.
    pub events: usize,
}

impl Copied {
    /// Counts rows of a table.
    pub(super) fn add(&mut self, table: &SourceTable, rows: usize) {
        self.rows += rows;
        self.events += if is_activity(table) || is_instant(table) { rows } else { 0 };
    }
}

/// Whether rows are activity: they have a start and an end.
pub(super) fn is_activity(table: &SourceTable) -> bool {
    table.has_all(&["start", "end"]) && !table.base.starts_with("info_")
}

/// Whether rows are moments.
pub(super) fn is_instant(table: &SourceTable) -> bool {
    table.has("timestamp") && !is_activity(table)
}

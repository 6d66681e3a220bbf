//! The small tables that activity rows point to, and the events between them and their category and correlation.

use std::sync::OnceLock;

use anyhow::Result;
use polars::prelude::*;

use super::database::Database;
use crate::input::common::sqlite::{Columns, Wanted, integer, text};
use crate::input::common::{IdIndex, Texts, index_of};

/// Strings and threads of one partition, read when first needed.
pub struct Lookups {
    strings: OnceLock<Texts>,
    threads: OnceLock<(IdIndex, Vec<Option<i64>>)>,
}

impl Lookups {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self { strings: OnceLock::new(), threads: OnceLock::new() }
    }

    /// The string table.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn strings(&self, database: &Database, threads: usize) -> Result<&Texts> {
        if let Some(strings) = self.strings.get() {
            return Ok(strings);
        }
        let columns = database.read("string", &[text("string")], threads)?;
        Ok(self.strings.get_or_init(|| Texts::of(&columns.integers("id"), &columns.texts("string"))))
    }

    /// Thread ids of the operating system for a column of thread rows; the row id itself where the row is missing.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn thread_ids(&self, database: &Database, rows: &Int64Chunked) -> Result<Int64Chunked> {
        let (index, tids) = match self.threads.get() {
            Some(threads) => threads,
            None => {
                let columns = database.read("info_thread", &[integer("tid")], 1)?;
                let tids = columns.integers("tid").iter().collect();
                self.threads.get_or_init(|| (index_of(&columns.integers("id")), tids))
            }
        };
        Ok(rows
            .iter()
            .map(|row| row.map(|row| index.position(row).and_then(|at| tids.get(at).copied().flatten()).unwrap_or(row)))
            .collect_ca("tid".into()))
    }
}

/// Columns of the event table, joined to a column of event ids.
pub struct Events {
    index: IdIndex,
    columns: Columns,
}

impl Events {
    /// Reads the named integer columns of the event table; without names nothing is read.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn read(database: &Database, names: &[&'static str], threads: usize) -> Result<Self> {
        let wanted: Vec<Wanted> = names.iter().map(|name| integer(name)).collect();
        let columns = if wanted.is_empty() { Columns::default() } else { database.read("event", &wanted, threads)? };
        Ok(Self { index: index_of(&columns.integers("id")), columns })
    }

    /// Values of an event column for every event id; null where the id, the event or the value is missing.
    pub fn join(&self, name: &'static str, event_ids: &Int64Chunked) -> Int64Chunked {
        let values = self.columns.integers(name).rechunk().into_owned();
        match values.cont_slice() {
            Ok(values) => self.gather(name, event_ids, |at| values.get(at).copied()),
            Err(_) => self.gather(name, event_ids, |at| values.get(at)),
        }
    }

    fn gather(&self, name: &str, ids: &Int64Chunked, value: impl Fn(usize) -> Option<i64>) -> Int64Chunked {
        ids.iter().map(|id| id.and_then(|id| self.index.position(id)).and_then(&value)).collect_ca(name.into())
    }

    /// Whether there is an event of that id.
    pub fn has(&self, id: i64) -> bool {
        self.index.position(id).is_some()
    }

    /// The columns as read, for their misfits and damage.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }
}

//! Tables of one process before anything is chosen.

use anyhow::Result;
use polars::prelude::LazyFrame;

use super::categories::Categories as CategoryRules;
use super::logical::{Member, Trace};
use super::metrics::Definitions;
use super::requests::{ProcessTables, known_table};
use super::source::ScanHint;

/// The tables of one process with all their rows, whatever was chosen.
pub struct WholeTables<'a> {
    pub(super) trace: &'a Trace,
    pub(super) member: &'a Member,
}

impl WholeTables<'_> {
    /// Columns of tables.
    ///
    /// # Errors
    /// As [`Trace::frames`].
    pub fn read(&self, request: &[(&'static str, &[&'static str])]) -> Result<ProcessTables> {
        let request = request.iter().map(|(table, columns)| (*table, columns.iter().copied().collect())).collect();
        self.trace.whole_frames(self.member, &request, &[], None)
    }

    /// Columns of a source table, of which rows that `hint` rules out may be missing.
    ///
    /// # Errors
    /// When the table is unknown, or cannot be built from what was read.
    pub fn rows(&self, table: &str, columns: &[&'static str], hint: Option<&ScanHint>) -> Result<LazyFrame> {
        let columns = columns.iter().copied().collect();
        Ok(self.trace.read(self.member, known_table(table)?, &columns, hint, hint.is_none())?.frame)
    }

    /// The category rules in force.
    pub fn categories(&self) -> &CategoryRules {
        self.trace.categories()
    }

    /// The definitions of metrics in force.
    pub fn metrics(&self) -> &Definitions {
        self.trace.metrics()
    }
}

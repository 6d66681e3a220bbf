//! The interface to the stored tables of a process.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::LazyFrame;

use super::stored::StoredProcess;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::{Column as Declaration, Table};
use wavesieve_model::text::causes::with_causes;
use wavesieve_tables::columns::reading::Piece;

/// Advice for a file that cannot be used.
pub const ADVICE: &str = "copy it again or convert again with --overwrite";

/// The files that hold the tables of one process.
pub trait Store: Send + Sync {
    /// The process, with the number of its rows.
    fn process(&self) -> &StoredProcess;

    /// Whether the files of a table exist, whole or not. Derived tables may be deleted for all processes to save space.
    fn is_kept(&self, table: &Table) -> bool;

    /// The damage to the rows of a table, by their metadata and by the stored data of some columns.
    fn problem(&self, table: &'static Table, columns: &BTreeSet<&'static str>) -> Option<Damage>;

    /// The damage to the rows of a table, by all of their content.
    fn problem_of_content(&self, table: &'static Table) -> Option<Damage>;

    /// Files next to the tables that changed after they were written; no row is lost with them.
    fn damage_beside_tables(&self) -> &[Damage] {
        &[]
    }

    /// The damage to report if the rows of a table cannot be read.
    fn damage_of(&self, table: &Table, error: &anyhow::Error) -> Damage;

    /// Columns of a table in pieces.
    ///
    /// # Errors
    /// When a file cannot be opened, or lacks a column.
    fn pieces(&self, table: &'static Table, columns: &[&'static Declaration]) -> Result<Vec<Box<dyn Piece>>>;

    /// At least these columns of a table, with the types of the file.
    ///
    /// # Errors
    /// When a file cannot be opened or read.
    fn frame(&self, table: &'static Table, columns: &[&'static Declaration]) -> Result<LazyFrame>;
}

/// The reason why rows of ranks cannot be used.
pub(crate) fn unusable(ranks: &str, error: &anyhow::Error) -> String {
    format!("the part of {ranks} cannot be used: {}; {ADVICE}", with_causes(error))
}

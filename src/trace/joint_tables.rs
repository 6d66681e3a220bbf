//! Tables built over all processes at once, kept from the first time they are asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use polars::prelude::DataFrame;

/// Rows of a table by process.
type ByProcess = BTreeMap<i64, DataFrame>;

/// Columns of a table, of which those that are only handed on may be missing.
type Columns = BTreeSet<&'static str>;

/// The tables built so far, with the columns that were asked for.
#[derive(Default)]
pub struct JointTables {
    built: Mutex<BTreeMap<&'static str, (Columns, ByProcess)>>,
}

impl JointTables {
    /// The rows of a process with at least the `wanted` columns; the first who asks builds those of all, and others wait. Who
    /// wants more columns than those before has it built again with all of them.
    ///
    /// # Errors
    /// When `build` fails.
    pub fn rows(
        &self,
        table: &'static str,
        wanted: &Columns,
        process: i64,
        build: impl FnOnce(&Columns) -> Result<ByProcess>,
    ) -> Result<Option<DataFrame>> {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let mut columns = wanted.clone();
        if let Some((known, rows)) = built.get(table) {
            if known.is_superset(wanted) {
                return Ok(rows.get(&process).cloned());
            }
            columns.extend(known);
        }
        let rows = build(&columns)?;
        let own = rows.get(&process).cloned();
        built.insert(table, (columns, rows));
        Ok(own)
    }
}

//! Tables built over all processes at once, kept from the first time they are asked for.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use polars::prelude::DataFrame;

/// Rows of a table by process.
type ByProcess = BTreeMap<i64, DataFrame>;

/// The tables built so far.
#[derive(Default)]
pub struct JointTables {
    built: Mutex<BTreeMap<&'static str, ByProcess>>,
}

impl JointTables {
    /// The rows of a process; the first who asks builds those of all, and others wait.
    ///
    /// # Errors
    /// When `build` fails.
    pub fn rows(
        &self,
        table: &'static str,
        process: i64,
        build: impl FnOnce() -> Result<ByProcess>,
    ) -> Result<Option<DataFrame>> {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rows) = built.get(table) {
            return Ok(rows.get(&process).cloned());
        }
        let rows = build()?;
        let own = rows.get(&process).cloned();
        built.insert(table, rows);
        Ok(own)
    }
}

//! Tables built over all processes at once, kept after their first request.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::DataFrame;

/// Rows of a table by process.
type ByProcess = BTreeMap<i64, DataFrame>;

/// Columns of a table; pass-through columns may be missing.
type Columns = BTreeSet<&'static str>;

/// The tables built so far, with the columns that were requested.
#[derive(Default)]
pub(crate) struct JointTables {
    built: Mutex<BTreeMap<&'static str, (Columns, ByProcess)>>,
    expected: Mutex<BTreeMap<&'static str, (Columns, ByProcess)>>,
}

impl JointTables {
    /// Announces that columns of a table will be requested after other tables of all processes are read: the needed parts of each process
    /// can then be extracted on the way.
    pub fn request_joint(&self, table: &'static str, wanted: &Columns) {
        let is_built = {
            let built = self.built.lock();
            built.get(table).is_some_and(|(known, _)| known.is_superset(wanted))
        };
        let mut expected = self.expected.lock();
        if !is_built && expected.get(table).is_none_or(|(known, _)| !known.is_superset(wanted)) {
            expected.insert(table, (wanted.clone(), ByProcess::new()));
        }
    }

    /// The expected tables with their columns, for which a process has no part yet.
    pub fn expected(&self, process: i64) -> Vec<(&'static str, Columns)> {
        let expected = self.expected.lock();
        let missing = expected.iter().filter(|(_, (_, parts))| !parts.contains_key(&process));
        missing.map(|(table, (columns, _))| (*table, columns.clone())).collect()
    }

    /// Keeps the part of a process for columns of a table.
    pub fn keep(&self, table: &'static str, columns: &Columns, process: i64, part: DataFrame) {
        let mut expected = self.expected.lock();
        if let Some((_, parts)) = expected.get_mut(table).filter(|(known, _)| known == columns) {
            parts.insert(process, part);
        }
    }

    /// Takes the part of a process that was kept for exactly these columns.
    pub fn take(&self, table: &str, wanted: &Columns, process: i64) -> Option<DataFrame> {
        let mut expected = self.expected.lock();
        expected.get_mut(table).filter(|(known, _)| known == wanted)?.1.remove(&process)
    }

    /// The rows of a process with at least the `wanted` columns; the first caller builds the rows of all processes, and other callers wait.
    /// If a caller requests more columns than before, the table is built again with all of them.
    pub fn rows(
        &self,
        table: &'static str,
        wanted: &Columns,
        process: i64,
        build: impl FnOnce(&Columns) -> Result<ByProcess>,
    ) -> Result<Option<DataFrame>> {
        let mut built = self.built.lock();
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
        // No reader needs the parts of processes any more.
        self.expected.lock().remove(table);
        Ok(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_is_kept_for_the_columns_that_are_expected() {
        let tables = JointTables::default();
        let (few, all) = (Columns::from(["start_ns"]), Columns::from(["start_ns", "end_ns"]));
        let part = || DataFrame::empty_with_height(3);
        assert!(tables.expected(1).is_empty());
        tables.keep("collective_kernels", &few, 1, part());
        assert!(tables.take("collective_kernels", &few, 1).is_none(), "nobody expected it");
        tables.request_joint("collective_kernels", &all);
        // It already has these columns.
        tables.request_joint("collective_kernels", &few);
        assert_eq!(tables.expected(1), [("collective_kernels", all.clone())]);
        tables.keep("collective_kernels", &few, 1, part());
        assert!(tables.take("collective_kernels", &few, 1).is_none(), "it was not made for what is expected");
        tables.keep("collective_kernels", &all, 1, part());
        assert!(tables.expected(1).is_empty() && tables.expected(2).len() == 1);
        let more = Columns::from(["start_ns", "exposed_ns"]);
        assert!(tables.take("collective_kernels", &more, 1).is_none(), "a column is missing");
        assert!(tables.take("collective_kernels", &few, 1).is_none(), "those of other processes have other columns");
        assert_eq!(tables.take("collective_kernels", &all, 1).map(|part| part.height()), Some(3));
        assert!(tables.take("collective_kernels", &all, 1).is_none(), "it is let go of");
    }

    #[test]
    fn a_table_that_is_there_is_not_expected() {
        let tables = JointTables::default();
        let columns = Columns::from(["start_ns"]);
        tables.request_joint("collective_kernels", &columns);
        assert_eq!(tables.expected(1).len(), 1);
        let built = tables.rows("collective_kernels", &columns, 1, |_| Ok(ByProcess::new())).unwrap();
        assert!(built.is_none());
        assert!(tables.expected(1).is_empty());
        tables.request_joint("collective_kernels", &columns);
        assert!(tables.expected(1).is_empty());
    }
}

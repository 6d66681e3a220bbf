//! The interface of an input adapter to the trace, and its reports about the rows that it returns.

use std::collections::BTreeSet;

use polars::prelude::LazyFrame;

use crate::columns::reading::{Keep, Piece, RowRange, ScanHint};
use crate::columns::requests::Request;
use crate::derive::gpu_work::gpu_times::GpuTime;
use wavesieve_model::analysis::categories::Categories;
use wavesieve_model::schema::anomaly::{Anomaly, Damage};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::{Column, Table};

/// Rows of one canonical table of one process, without the columns `process` and `rank`.
pub struct Rows {
    /// At least the columns requested, with the canonical types.
    pub frame: LazyFrame,
    /// Anomalies of the rows.
    pub anomalies: Vec<Anomaly>,
    /// Damage to the rows.
    pub damage: Vec<Damage>,
}

impl Rows {
    /// Rows without anything to report.
    pub fn clean(frame: LazyFrame) -> Self {
        Self { frame, anomalies: Vec::new(), damage: Vec::new() }
    }
}

/// The stored part of a derived table in an input.
#[derive(Default)]
pub struct Stored {
    /// Its rows; without them the table is built.
    pub frame: Option<LazyFrame>,
    /// The reason why stored rows cannot be used.
    pub damage: Option<Damage>,
}

/// Number of rows of a table, and parts that could not be counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowCount {
    /// Rows that can be read.
    pub rows: u64,
    /// Parts that cannot be read.
    pub damage: Vec<Damage>,
}

impl RowCount {
    /// A count of rows that can all be read.
    pub fn whole(rows: u64) -> Self {
        Self { rows, damage: Vec::new() }
    }
}

/// Context that a source needs to fill canonical columns.
pub struct ReadContext<'a> {
    /// Place of the process in the logical trace.
    pub process: &'a Process,
    /// Category rules.
    pub categories: &'a Categories,
    /// Number of threads that one read may use.
    pub threads: usize,
    /// Hint about rows that are not needed, if known.
    pub hint: Option<&'a ScanHint>,
    /// Whether all rows of the columns will be needed in memory at the same time.
    pub at_once: bool,
    /// The range of rows to read, from [`ProcessReader::row_ranges`] of the same table.
    pub rows: Option<RowRange>,
    /// Filter of needed rows while reading; other rows may be skipped.
    pub keep: Option<Keep>,
}

impl<'a> ReadContext<'a> {
    /// Context for reading whole columns of a process with a number of threads.
    pub fn whole(process: &'a Process, categories: &'a Categories, threads: usize) -> Self {
        Self { process, categories, threads, hint: None, at_once: false, rows: None, keep: None }
    }
}

/// One process of an input.
pub trait ProcessReader: Send + Sync {
    /// Reads the named columns of a source table; `processes` and `agents` are never requested.
    ///
    /// # Errors
    /// When nothing of the table can be read. A partly readable table is not an error: it is reported as damage.
    fn read(
        &self,
        context: &ReadContext<'_>,
        table: &'static Table,
        columns: &[&'static Column],
    ) -> anyhow::Result<Rows>;

    /// The named columns of a source table in pieces, if that is faster than reading them as a whole.
    fn pieces(
        &self,
        _context: &ReadContext<'_>,
        _table: &'static Table,
        _columns: &[&'static Column],
    ) -> anyhow::Result<Option<Vec<Box<dyn Piece>>>> {
        Ok(None)
    }

    /// Ranges of about `rows` rows each that together are all of a source table, in order; `None` if reading them one by one costs much
    /// more than reading all at once.
    fn row_ranges(&self, _context: &ReadContext<'_>, _table: &'static Table, _rows: usize) -> Option<Vec<RowRange>> {
        None
    }

    /// Rows of a derived table stored with the input, if it was built with the same rules and identities. `_wanted` columns are needed;
    /// others may be returned.
    ///
    /// # Errors
    /// When the stored table cannot be opened.
    fn read_derived(
        &self,
        _context: &ReadContext<'_>,
        _table: &'static Table,
        _wanted: &BTreeSet<&'static str>,
    ) -> anyhow::Result<Stored> {
        Ok(Stored::default())
    }

    /// The sums of `gpu_segments`, if they are stored with a table that [`ProcessReader::read_derived`] would return.
    fn gpu_times(&self) -> Option<&[GpuTime]> {
        None
    }

    /// Parts whose content cannot be read, found by reading all of it: called after a later read failed. The parts found are skipped from
    /// then on.
    fn damage_of_content(&self) -> &[Damage] {
        &[]
    }

    /// Files next to the tables, for other programs, that differ from their recorded state. They hold no data of the trace.
    fn damage_beside_tables(&self) -> Vec<Damage> {
        Vec::new()
    }

    /// Known damage: found when the input was opened, or by [`ProcessReader::damage_of_content`]. Damage found by
    /// reading is not repeated here.
    fn damage(&self) -> Vec<Damage> {
        Vec::new()
    }

    /// Parts that cannot be read, judged by the layout of the input without reading all of it.
    fn damage_of_structure(&self) -> Vec<Damage> {
        Vec::new()
    }

    /// Number of rows of a source table, if possible without reading them.
    ///
    /// # Errors
    /// When the input cannot be opened. For a damaged table, the readable rows are counted.
    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> anyhow::Result<RowCount>;

    /// Whether a source table certainly has a row, if this is known sooner than the number of rows. The row must count regardless of its
    /// values. If unknown, only counting can decide.
    fn has_rows(&self, _context: &ReadContext<'_>, _table: &'static Table) -> bool {
        false
    }

    /// Estimated memory that all tables need while they are read, if the source knows it better than from file size.
    fn memory_bytes(&self) -> Option<u64> {
        None
    }

    /// Estimated memory that some columns of source tables need, if the source knows the number of rows.
    fn memory_bytes_of(&self, _request: &Request) -> Option<u64> {
        None
    }

    /// Drops data that is kept for further tables, when all tables have been read. Later reads start anew.
    fn release(&self) {}
}

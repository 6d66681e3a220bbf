//! Reading a table in pieces, and hints about rows that may be skipped.

use polars::prelude::{BooleanChunked, DataFrame};

/// Selects the rows of a frame to keep.
pub type Keep = fn(&DataFrame) -> anyhow::Result<BooleanChunked>;

/// Rows that a reader of an event table may skip. Skipping is optional: rows are filtered again afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanHint {
    /// Rows that end before this may be skipped.
    pub earliest_end_ns: Option<i64>,
    /// Rows that start after this may be skipped.
    pub latest_start_ns: Option<i64>,
    /// Shorter rows may be skipped.
    pub min_duration_ns: Option<i64>,
    /// Dispatches of other kernels may be skipped.
    pub kernel_ids: Option<Vec<i64>>,
    /// Arguments of other regions may be skipped; in rising order.
    pub regions: Option<Vec<i64>>,
}

/// A range of row numbers in a table of an input, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRange {
    /// Number of the first row.
    pub first: i64,
    /// Number of the last row.
    pub last: i64,
}

/// Takes rows of a table, without the columns `process` and `rank`.
pub type Visit<'a> = dyn FnMut(&DataFrame) -> anyhow::Result<()> + 'a;

/// A part of a table that can be read on its own.
pub trait Piece: Send + Sync {
    /// Passes all rows to `visit`, in frames of moderate size.
    ///
    /// # Errors
    /// When the rows cannot be read, or `visit` fails.
    fn read(&self, visit: &mut Visit<'_>) -> anyhow::Result<()>;

    /// Like [`Piece::read`], in as few frames as possible.
    fn read_at_once(&self, visit: &mut Visit<'_>) -> anyhow::Result<()> {
        self.read(visit)
    }
}

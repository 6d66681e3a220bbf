//! How rows of a table are read in pieces, and which of them may be left out.

use polars::prelude::{BooleanChunked, DataFrame};

/// Selects which rows of a frame are wanted.
pub type Keep = fn(&DataFrame) -> anyhow::Result<BooleanChunked>;

/// Which rows a reader of a table of events may leave out. It need not: rows are chosen again after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanHint {
    /// Rows that end before may be left out.
    pub earliest_end_ns: Option<i64>,
    /// Rows that start after may be left out.
    pub latest_start_ns: Option<i64>,
    /// Rows that last less may be left out.
    pub min_duration_ns: Option<i64>,
    /// Dispatches of other kernels may be left out.
    pub kernel_ids: Option<Vec<i64>>,
    /// Arguments of anything but these regions may be left out; in rising order.
    pub regions: Option<Vec<i64>>,
}

/// Rows of a table of an input by the numbers that they have there, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRange {
    /// Number of the first row.
    pub first: i64,
    /// Number of the last row.
    pub last: i64,
}

/// Takes rows of a table, without the columns `process` and `rank`.
pub type Visit<'a> = dyn FnMut(&DataFrame) -> anyhow::Result<()> + 'a;

/// A part of a table that can be read by itself.
pub trait Piece: Send + Sync {
    /// Gives all rows in frames of a moderate size.
    ///
    /// # Errors
    /// When the rows cannot be read, or `visit` fails.
    fn read(&self, visit: &mut Visit<'_>) -> anyhow::Result<()>;

    /// As [`Piece::read`], in as few frames as it can.
    fn read_at_once(&self, visit: &mut Visit<'_>) -> anyhow::Result<()> {
        self.read(visit)
    }
}

//! Columns of tables of a process.

use anyhow::Result;
use polars::prelude::{DataFrame, DataType, Expr, StringChunked, col, lit};

use wavesieve_tables::columns::frames::collected;
use wavesieve_tables::columns::requests::ProcessTables;
use wavesieve_tables::columns::values::I64Values;

/// A part of the time of a process, on its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent {
    /// Start.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
}

impl Extent {
    /// Its length.
    pub(super) fn length_ns(self) -> i64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Both together and the time between them.
    pub(super) fn with(self, other: Self) -> Self {
        Self { start_ns: self.start_ns.min(other.start_ns), end_ns: self.end_ns.max(other.end_ns) }
    }

    /// Whether an event is in it, at least in part.
    pub(super) fn shows(self, start_ns: i64, end_ns: i64) -> bool {
        start_ns < self.end_ns && (end_ns > self.start_ns || start_ns >= self.start_ns)
    }
}

/// A table; no rows if it was not read.
pub(super) fn table(tables: &ProcessTables, name: &str) -> Result<DataFrame> {
    Ok(tables.get(name).map_or_else(|| Ok(DataFrame::default()), collected)?)
}

/// The rows of a table that are in a part of the run, at least in part.
pub(super) fn rows_in(tables: &ProcessTables, name: &str, time: Extent) -> Result<DataFrame> {
    let Some(frame) = tables.get(name) else { return Ok(DataFrame::default()) };
    let (start, end) = (col("start_ns"), col("end_ns"));
    let inside: Expr =
        start.clone().lt(lit(time.end_ns)).and(end.gt(lit(time.start_ns)).or(start.gt_eq(lit(time.start_ns))));
    Ok(collected(&frame.clone().filter(inside))?)
}

/// Integers of a column.
pub(super) fn integers(frame: &DataFrame, name: &str) -> Result<I64Values> {
    Ok(I64Values::new(frame.column(name)?.i64()?))
}

/// Texts of a column.
pub(super) fn texts(frame: &DataFrame, name: &str) -> Result<StringChunked> {
    Ok(frame.column(name)?.cast(&DataType::String)?.str()?.rechunk().into_owned())
}

/// Start and end of each row with both, in a table that has rows; invalid rows are left out.
pub(super) fn times(frame: &DataFrame) -> Result<Vec<(usize, Extent)>> {
    if frame.height() == 0 {
        return Ok(Vec::new());
    }
    let (starts, ends) = (integers(frame, "start_ns")?, integers(frame, "end_ns")?);
    let is_valid = match frame.column("valid") {
        Ok(column) => Some(column.bool()?.rechunk().into_owned()),
        Err(_) => None,
    };
    let rows = (0..frame.height()).filter(|row| is_valid.as_ref().is_none_or(|valid| valid.get(*row) == Some(true)));
    let timed = rows.filter_map(|row| {
        let (start_ns, end_ns) = (starts.get(row)?, ends.get(row)?);
        (end_ns >= start_ns).then_some((row, Extent { start_ns, end_ns }))
    });
    Ok(timed.collect())
}

/// The time from the first start to the last end of a table.
pub(super) fn extent(frame: &DataFrame) -> Result<Option<Extent>> {
    Ok(times(frame)?.into_iter().map(|(_, time)| time).reduce(Extent::with))
}

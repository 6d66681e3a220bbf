//! Columns of a table, for walking over its rows.

use anyhow::Result;
use polars::prelude::{DataFrame, DataType, StringChunked};

use super::write::Omitted;
use wavesieve_tables::columns::values::I64Values;

/// A slice before it is written, by its row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub start_ns: i64,
    pub end_ns: i64,
    pub row: u32,
}

/// Integers of a column.
pub(super) fn integers(frame: &DataFrame, name: &str) -> Result<I64Values> {
    Ok(I64Values::new(frame.column(name)?.i64()?))
}

/// Texts of a column.
pub(super) fn texts(frame: &DataFrame, name: &str) -> Result<StringChunked> {
    Ok(frame.column(name)?.cast(&DataType::String)?.str()?.rechunk().into_owned())
}

/// The end of a slice whose end was not recorded.
pub(super) const UNFINISHED: i64 = i64::MAX;

/// The rows of a table as slices, with the ends that were recorded; without a start a row cannot be shown.
pub(super) struct Slices {
    starts: I64Values,
    ends: I64Values,
}

impl Slices {
    pub(super) fn of(frame: &DataFrame) -> Result<Self> {
        Ok(Self { starts: integers(frame, "start_ns")?, ends: integers(frame, "end_ns")? })
    }

    pub(super) fn get(&self, row: usize, omitted: &mut Omitted) -> Option<Slice> {
        let Some(start_ns) = self.starts.get(row).filter(|start_ns| *start_ns > 0) else {
            omitted.without_start += 1;
            return None;
        };
        let end_ns = self.ends.get(row).unwrap_or(UNFINISHED);
        omitted.unfinished += u64::from(end_ns == UNFINISHED);
        omitted.bad_ends += u64::from(end_ns < start_ns);
        Some(Slice { start_ns, end_ns, row: row as u32 })
    }
}

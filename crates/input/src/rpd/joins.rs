//! Columns of one table at the rows of another: calls, launches, copy arguments, and the calls behind operations.

use anyhow::Result;
use polars::prelude::*;

use super::reading::Reading;
use crate::common::sqlite::{Columns, Condition, Wanted, integer};
use crate::common::{IdIndex, index_of};

/// Columns of a table by an id.
pub struct Joined {
    index: IdIndex,
    columns: Columns,
}

impl Joined {
    /// Reads the `wanted` columns of a table and indexes its rows by the column `key`.
    pub fn read(
        reading: &mut Reading<'_>,
        base: &str,
        key: &'static str,
        wanted: &[Wanted],
        condition: &Condition,
    ) -> Result<Self> {
        let own = [integer(key)];
        let all: Vec<Wanted> = own.iter().filter(|own| own.name != "id").chain(wanted).copied().collect();
        let mut columns = reading.read(base, &all, condition)?;
        let keys = columns.integers(key);
        if keys.null_count() > 0 {
            columns = columns.filter(&keys.is_not_null())?;
        }
        Ok(Self { index: index_of(&columns.integers(key)), columns })
    }

    /// Whether there is a row of that id.
    pub fn has(&self, id: Option<i64>) -> bool {
        self.position(id).is_some()
    }

    /// The row of an id.
    pub fn position(&self, id: Option<i64>) -> Option<usize> {
        id.and_then(|id| self.index.position(id))
    }

    /// Values of an integer column for every id; null where the id or the value is missing.
    pub fn integers(&self, name: &'static str, ids: &Int64Chunked) -> Int64Chunked {
        let values = self.columns.integers(name);
        ids.iter().map(|id| self.position(id).and_then(|at| values.get(at))).collect_ca(name.into())
    }

    /// A text column.
    pub fn texts(&self, name: &'static str) -> StringChunked {
        self.columns.texts(name)
    }
}

/// Reads the columns of the calls.
pub fn calls(reading: &mut Reading<'_>, wanted: &[Wanted]) -> Result<Joined> {
    Joined::read(reading, "api", "id", wanted, &Condition::all())
}

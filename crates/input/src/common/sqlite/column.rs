//! Columns as read from a table: integers, reals and texts with missing values.

use anyhow::Result;
use polars::prelude::{
    BooleanChunked, ChunkFilter, ChunkFullNull, Column, Float64Chunked, Int64Chunked, IntoColumn, PolarsResult,
    StringChunked,
};

use super::pages::UnexpectedType;
use crate::common::RawRows;

/// The reported type of texts that are not UTF-8.
pub(crate) const INVALID_UTF8: &str = "invalid UTF-8";

/// The type that a reader expects in a column of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Integers; reals and numeric texts are converted and counted.
    Integer,
    /// Reals; integers are converted.
    Real,
    /// Text; numbers are printed.
    Text,
}

impl ColumnKind {
    /// The reported name of an unexpected type.
    pub(crate) fn quoted_name(self, odd: UnexpectedType) -> &'static str {
        match (odd, self) {
            (UnexpectedType::Real, _) => "REAL",
            (UnexpectedType::Text, Self::Text) => INVALID_UTF8,
            (UnexpectedType::Text, _) => "TEXT",
            (UnexpectedType::Blob, Self::Text) => "damaged LZ4",
            (UnexpectedType::Blob, _) => "BLOB",
        }
    }
}

/// A column of the source, and the kind of content that is expected in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Name in the source.
    pub name: &'static str,
    /// Expected content.
    pub kind: ColumnKind,
}

pub const fn integer(name: &'static str) -> Wanted {
    Wanted { name, kind: ColumnKind::Integer }
}

pub const fn real(name: &'static str) -> Wanted {
    Wanted { name, kind: ColumnKind::Real }
}

pub const fn text(name: &'static str) -> Wanted {
    Wanted { name, kind: ColumnKind::Text }
}

#[derive(Clone, Debug)]
pub enum Values {
    Integer(Int64Chunked),
    Real(Float64Chunked),
    Text(StringChunked),
}

/// Values that were not of the declared kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMismatch {
    pub column: &'static str,
    /// The type that was found, such as `REAL`.
    pub found: &'static str,
    pub count: i64,
    /// Row id of the first of these values.
    pub first_id: i64,
}

/// Columns of one table in the order of the row ids.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    pub height: usize,
    /// Number of rows that were not selected, if it was counted.
    pub left_out: Option<usize>,
    /// Values by name; a column the table lacks is absent.
    pub values: Vec<(&'static str, Values)>,
    /// Values of another kind than declared.
    pub type_mismatches: Vec<TypeMismatch>,
    /// The reason why reading stopped early, if it did.
    pub damage: Option<String>,
}

impl Columns {
    /// An integer column; all nulls if the table lacks it.
    pub fn integers(&self, name: &str) -> Int64Chunked {
        match self.find(name) {
            Some(Values::Integer(values)) => values.clone(),
            _ => Int64Chunked::full_null(name.into(), self.height),
        }
    }

    /// Like [`Columns::integers`], for the last reader of the column: its memory is not kept here any longer.
    pub(crate) fn take_integers(&mut self, name: &str) -> Int64Chunked {
        let column = self.integers(name);
        self.values.retain(|(kept, _)| *kept != name);
        column
    }

    /// A real column; all nulls if the table lacks it.
    pub(crate) fn reals(&self, name: &str) -> Float64Chunked {
        match self.find(name) {
            Some(Values::Real(values)) => values.clone(),
            _ => Float64Chunked::full_null(name.into(), self.height),
        }
    }

    /// A text column; all nulls if the table lacks it.
    pub fn texts(&self, name: &str) -> StringChunked {
        match self.find(name) {
            Some(Values::Text(values)) => values.clone(),
            _ => StringChunked::full_null(name.into(), self.height),
        }
    }

    /// The marked rows.
    pub fn filter(self, mask: &BooleanChunked) -> PolarsResult<Self> {
        let values = self.values.into_iter().map(|(name, values)| {
            Ok((
                name,
                match values {
                    Values::Integer(values) => Values::Integer(values.filter(mask)?),
                    Values::Real(values) => Values::Real(values.filter(mask)?),
                    Values::Text(values) => Values::Text(values.filter(mask)?),
                },
            ))
        });
        let values: Vec<(&'static str, Values)> = values.collect::<PolarsResult<_>>()?;
        Ok(Self { height: mask.num_trues(), values, ..self })
    }

    /// Whether the table has a column that was read.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn find(&self, name: &str) -> Option<&Values> {
        self.values.iter().find(|(column, _)| *column == name).map(|(_, values)| values)
    }
}

impl RawRows<&str> for Columns {
    fn keys(&self) -> Int64Chunked {
        self.integers("id")
    }

    fn numbers(&self, column: &str) -> Int64Chunked {
        self.integers(column)
    }

    fn words(&self, column: &str) -> Result<Column> {
        Ok(self.texts(column).into_column())
    }
}

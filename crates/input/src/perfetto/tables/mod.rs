//! The canonical tables that are made of rows.

pub(super) mod args;
pub(super) mod calls;
pub(super) mod info;
pub(super) mod samples;
pub(super) mod states;
pub(super) mod work;

use polars::prelude::*;

use super::names::Names;
use super::rows::{Field, Rows};
use wavesieve_tables::columns::values::integers;

fn column(rows: &Rows, field: Field) -> Int64Chunked {
    integers("", rows.column(field))
}

/// Ids of rows: their places, from 1 on.
fn ids(rows: &Rows) -> Int64Chunked {
    Int64Chunked::from_iter_values("".into(), (1..).take(rows.height()))
}

/// The text of a number, if it is not empty.
fn text(names: &Names, number: Option<i64>) -> Option<&str> {
    let text = names.text(u32::try_from(number?).ok()?);
    Some(text).filter(|text| !text.is_empty())
}

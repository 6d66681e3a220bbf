//! The canonical tables that are made of rows.

mod allocations;
mod args;
mod calls;
mod copies;
mod info;
mod kernels;
mod samples;

pub(crate) use allocations::read_allocations;
pub(crate) use args::read_args;
pub(crate) use calls::read_marks;
pub use calls::read_regions;
pub(crate) use copies::read_copies;
pub(crate) use info::{read_kernel_symbols, read_queues, read_streams, read_threads};
pub(crate) use kernels::read_kernels;
pub(crate) use samples::read_samples;

use std::collections::BTreeMap;

use polars::prelude::*;

use super::names::Names;
use super::rows::{Field, Rows};
use crate::common::TableBuilder;
use wavesieve_tables::columns::values::integers;

/// A field as a column.
fn column(rows: &Rows, field: Field) -> Int64Chunked {
    integers("", rows.column(field))
}

/// Ids of rows: their places, from 1 on.
fn ids(rows: &Rows) -> Int64Chunked {
    Int64Chunked::from_iter_values("".into(), (1..).take(rows.height()))
}

/// Adds the columns that work of all kinds has.
fn put_common(builder: &mut TableBuilder<'_>, rows: &Rows) {
    for (name, field) in [
        ("queue_id", Field::Queue),
        ("stream_id", Field::Stream),
        ("tid", Field::Tid),
        ("correlation_id", Field::Correlation),
    ] {
        if builder.wants(&[name]) {
            builder.put(name, column(rows, field).into_series());
        }
    }
    builder.put_times(&column(rows, Field::Start), &column(rows, Field::End));
}

/// Texts that occur, and which of them each row has.
#[derive(Default)]
struct Dictionary {
    texts: Vec<Option<String>>,
    places: Vec<Option<usize>>,
}

impl Dictionary {
    /// Texts by the numbers of rows, in the form that `text` gives them.
    fn of(numbers: impl Iterator<Item = Option<i64>>, text: impl Fn(Option<i64>) -> Option<String>) -> Self {
        let mut dictionary = Self::default();
        let mut known: BTreeMap<Option<i64>, usize> = BTreeMap::new();
        for number in numbers {
            let place = *known.entry(number).or_insert_with(|| {
                dictionary.texts.push(text(number));
                dictionary.texts.len() - 1
            });
            dictionary.places.push(Some(place));
        }
        dictionary
    }
}

/// The text of a number, if it is not empty.
fn text(names: &Names, number: Option<i64>) -> Option<&str> {
    let text = names.text(u32::try_from(number?).ok()?);
    Some(text).filter(|text| !text.is_empty())
}

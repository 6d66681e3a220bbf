//! The rows of a counter file, with parsed numbers.

use std::borrow::Cow;

use ::csv::ByteRecord;
use anyhow::Result;

use super::columns::{COLUMNS, Col};
use super::counter_file::CounterFile;
use super::header::{Header, Layout};
use crate::common::csv::{Flaws, Parsed, float, integer, not_a_number};
use wavesieve_model::text::bytes::text_of_bytes;

/// A row with parsed numbers.
pub struct UnderstoodRow<'r> {
    record: &'r ByteRecord,
    header: &'r Header,
    numbers: [Option<i64>; COLUMNS],
    pub dispatch: i64,
    /// Values of [`Header::counters`], or the only value in the long layout.
    pub values: &'r [Option<f64>],
    /// Values of [`Header::repeats`].
    pub repeated: &'r [Option<f64>],
}

impl UnderstoodRow<'_> {
    pub fn number(&self, column: Col) -> Option<i64> {
        self.numbers.get(column as usize).copied().flatten()
    }

    /// The text in a column, if it is not empty.
    pub fn text(&self, column: Col) -> Option<Cow<'_, str>> {
        let field = self.record.get(self.header.position(column)?)?;
        (!field.is_empty()).then(|| text_of_bytes(field))
    }
}

/// Calls `visit` for every row that can be parsed.
pub fn scan(file: &CounterFile, header: &Header, visit: &mut dyn FnMut(&UnderstoodRow<'_>)) -> Result<Flaws> {
    let only: Vec<usize> = header.position(Col::CounterValue).into_iter().collect();
    let counters: Vec<usize> = match header.layout {
        Some(Layout::Long) => only,
        _ => header.counters.iter().map(|counter| counter.position).collect(),
    };
    let repeats: Vec<usize> = header.repeats.iter().map(|repeat| repeat.position).collect();
    let (mut values, mut repeated) = (Vec::new(), Vec::new());
    file.scan(header.width, &mut |record| {
        let mut numbers = [None; COLUMNS];
        for (position, column) in &header.integers {
            let number = field(record, *position, integer)?;
            if let Some(place) = numbers.get_mut(*column as usize) {
                *place = number;
            }
        }
        let dispatch = numbers.get(Col::Dispatch as usize).copied().flatten().ok_or("it has no dispatch")?;
        for (positions, numbers) in [(&counters, &mut values), (&repeats, &mut repeated)] {
            numbers.clear();
            for position in positions {
                numbers.push(field(record, *position, float)?);
            }
        }
        visit(&UnderstoodRow { record, header, numbers, dispatch, values: &values, repeated: &repeated });
        Ok(())
    })
}

fn field<T>(record: &ByteRecord, position: usize, parse: fn(&[u8]) -> Parsed<T>) -> Result<Option<T>, String> {
    let field = record.get(position).unwrap_or_default();
    match parse(field) {
        Parsed::Value(value) => Ok(Some(value)),
        Parsed::Missing => Ok(None),
        Parsed::Bad => Err(not_a_number(field, position)),
    }
}

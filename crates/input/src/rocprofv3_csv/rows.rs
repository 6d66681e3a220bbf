//! The rows of a file with their numbers.

use std::borrow::Cow;

use ::csv::ByteRecord;
use anyhow::Result;

use super::columns::{COLUMNS, Col};
use super::header::Header;
use super::values::agent;
use crate::common::csv::{self, Content, CsvFile, Flaws, Parsed, float, integer, not_a_number};
use wavesieve_model::text::bytes::text_of_bytes;

/// A row whose numbers are parsed.
pub struct UnderstoodRow<'r> {
    record: &'r ByteRecord,
    header: &'r Header,
    numbers: &'r [Option<i64>; COLUMNS],
    pub value: Option<f64>,
}

impl UnderstoodRow<'_> {
    /// The number in a column; an agent is given as the code of its label.
    pub fn number(&self, column: Col) -> Option<i64> {
        self.numbers.get(column as usize).copied().flatten()
    }

    /// The text in a column; `None` if it is empty.
    pub fn text(&self, column: Col) -> Option<Cow<'_, str>> {
        let field = self.record.get(self.header.position(column)?)?;
        (!field.is_empty()).then(|| text_of_bytes(field))
    }
}

/// Passes every row that can be parsed to `visit`.
pub fn scan(file: &CsvFile, header: &Header, visit: &mut dyn FnMut(&UnderstoodRow<'_>)) -> Result<Flaws> {
    let mut numbers = [None; COLUMNS];
    csv::scan(file, header.width, &mut |record| {
        let value = parse(record, header, &mut numbers)?;
        visit(&UnderstoodRow { record, header, numbers: &numbers, value });
        Ok(())
    })
}

/// Fills in the numbers of a row and returns the counter value. The error describes a field that is not a number.
fn parse(record: &ByteRecord, header: &Header, numbers: &mut [Option<i64>; COLUMNS]) -> Result<Option<f64>, String> {
    let mut counter_value = None;
    for (at, column, content) in header.contents() {
        let field = record.get(*at).unwrap_or_default();
        let bad = || not_a_number(field, *at);
        let number = match content {
            Content::Text | Content::Unused => continue,
            Content::Agent => agent(field).map(super::values::AgentLabel::code),
            Content::Integer => match integer(field) {
                Parsed::Value(value) => Some(value),
                Parsed::Missing => None,
                Parsed::Bad => return Err(bad()),
            },
            Content::Float => {
                match float(field) {
                    Parsed::Value(value) => counter_value = Some(value),
                    Parsed::Missing => {}
                    Parsed::Bad => return Err(bad()),
                }
                continue;
            }
        };
        if let Some(place) = numbers.get_mut(*column as usize) {
            *place = number;
        }
    }
    Ok(counter_value)
}

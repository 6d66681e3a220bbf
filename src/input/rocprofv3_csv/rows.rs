//! Goes through the rows of a file; rows that cannot be understood are left out and told of by file and line.

use std::borrow::Cow;

use anyhow::Result;
use csv::{ByteRecord, Position};

use super::columns::{COLUMNS, Col, Content};
use super::group::CsvFile;
use super::header::Header;
use super::kinds::Kind;
use super::values::{Parsed, agent, float, integer};
use crate::input::common::csv_file::{Records, line_at, open};
use crate::trace::anomaly::{Anomaly, Damage, Severity};

/// A row whose numbers are understood.
pub struct Row<'r> {
    record: &'r ByteRecord,
    header: &'r Header,
    numbers: &'r [Option<i64>; COLUMNS],
    /// The counter value.
    pub value: Option<f64>,
}

impl Row<'_> {
    /// The number in a column; an agent as the code of its label.
    pub fn number(&self, column: Col) -> Option<i64> {
        self.numbers.get(column as usize).copied().flatten()
    }

    /// The text in a column that is not empty.
    pub fn text(&self, column: Col) -> Option<Cow<'_, str>> {
        let field = self.record.get(self.header.position(column)?)?;
        (!field.is_empty()).then(|| String::from_utf8_lossy(field))
    }
}

/// What was odd about the rows of a file.
#[derive(Clone, Debug, Default)]
pub struct Flaws {
    /// Rows that could be read.
    pub good: u64,
    /// Rows that could not.
    pub bad: u64,
    /// Rows with bytes that are not UTF-8.
    pub lossy: u64,
    /// Where the first bad row is, and what is wrong with it.
    first: Option<String>,
    /// Why the rest of the file is missing.
    broken: Option<String>,
}

impl Flaws {
    /// What was lost.
    pub fn damage(&self, file: &CsvFile, kind: Kind) -> Vec<Damage> {
        let rows = self.good.saturating_add(self.bad);
        let bad = self.first.as_ref().map(|first| {
            format!("{} of {rows} rows cannot be understood and are left out; the first is {first}", self.bad)
        });
        let damage = |cause| Damage { path: file.shown.clone(), part: kind.name().to_owned(), cause };
        bad.into_iter().chain(self.broken.clone()).map(damage).collect()
    }

    /// What is worth knowing.
    pub fn anomaly(&self, table: &str) -> Option<Anomaly> {
        (self.lossy > 0).then(|| Anomaly {
            check_id: "invalid_utf8",
            severity: Severity::Info,
            table_name: table.to_owned(),
            count: i64::try_from(self.lossy).unwrap_or(i64::MAX),
            first_key: None,
            detail: "texts hold bytes that are not UTF-8; they appear as U+FFFD".to_owned(),
        })
    }
}

/// The header of a file, and the records after it.
///
/// # Errors
/// When the file cannot be opened, or its header cannot be read.
pub fn start(file: &CsvFile) -> Result<(ByteRecord, Records)> {
    let mut records = open(&file.path)?;
    let mut header = ByteRecord::new();
    records.read_byte_record(&mut header)?;
    Ok((header, records))
}

/// Shows every row that can be understood to `visit`.
///
/// # Errors
/// When the file cannot be opened.
pub fn scan(file: &CsvFile, header: &Header, visit: &mut dyn FnMut(&Row<'_>)) -> Result<Flaws> {
    let (first, mut records) = start(file)?;
    let mut flaws = Flaws::default();
    let mut record = ByteRecord::new();
    let mut numbers = [None; COLUMNS];
    loop {
        match records.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(flaws),
            Err(error) => {
                let line = records.position().line();
                flaws.broken = Some(format!("{}:{line}: the rest of the file is missing: {error}", file.shown));
                return Ok(flaws);
            }
        }
        let understood = if record.len() == header.width {
            parse(&record, header, &mut numbers)
        } else {
            Err(format!("{} fields where the header has {}", record.len(), header.width))
        };
        match understood {
            Ok(value) => {
                flaws.good += 1;
                flaws.lossy += u64::from(std::str::from_utf8(record.as_slice()).is_err());
                visit(&Row { record: &record, header, numbers: &numbers, value });
            }
            // Files that were joined end to end repeat their header; a line of blanks is no row.
            Err(_) if record == first || record.as_slice().trim_ascii().is_empty() => {}
            Err(reason) => {
                flaws.bad += 1;
                flaws.first.get_or_insert_with(|| {
                    let place = record.position().map_or(0, Position::byte);
                    let line =
                        line_at(&file.path, place).unwrap_or_else(|_| record.position().map_or(0, Position::line));
                    format!("{}:{line}: {reason}{}", file.shown, unclosed(&record))
                });
            }
        }
    }
}

/// Says when a bad row runs over lines, which happens when a quote is not closed.
fn unclosed(record: &ByteRecord) -> String {
    match record.as_slice().iter().filter(|byte| **byte == b'\n').count() {
        0 => String::new(),
        more => format!("; a quote that is not closed makes it run over {} lines", more + 1),
    }
}

/// Fills in the numbers of a row and returns the counter value, or what is no number.
fn parse(record: &ByteRecord, header: &Header, numbers: &mut [Option<i64>; COLUMNS]) -> Result<Option<f64>, String> {
    let mut counter_value = None;
    for (at, column, content) in header.contents() {
        let field = record.get(*at).unwrap_or_default();
        let bad = || {
            let text: String = String::from_utf8_lossy(field).chars().take(40).collect();
            format!("{text:?} in field {} is no number", at + 1)
        };
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

//! The requested columns of the rows of a kind.

use std::borrow::Cow;

use anyhow::Result;
use polars::prelude::*;

use super::columns::Col;
use super::kinds::RecordKind;
use super::reading::Reading;
use super::rows::UnderstoodRow;
use crate::common::{DispatchRun, RawRows, Source, Words, ordinals};

/// The columns and rows to read.
pub struct Plan {
    pub kind: RecordKind,
    /// Columns and their canonical columns; a column without canonical columns is always needed.
    pub layout: &'static [Source<Col>],
    pub keep: fn(&UnderstoodRow<'_>) -> bool,
    /// Columns of numbers that are always read.
    pub always: &'static [Col],
    /// Test of each row whose results become [`Fields::marks`].
    pub mark: fn(&UnderstoodRow<'_>) -> bool,
}

impl Plan {
    /// Plans to read every row, without marks.
    pub const fn new(kind: RecordKind, layout: &'static [Source<Col>], always: &'static [Col]) -> Self {
        Self { kind, layout, keep: |_| true, always, mark: |_| false }
    }
}

/// The columns that were read from all files in order.
#[derive(Default)]
pub struct Fields {
    pub height: usize,
    /// Results of [`Plan::mark`].
    pub marks: Vec<bool>,
    pub values: Vec<Option<f64>>,
    numbers: Vec<(Col, Vec<Option<i64>>)>,
    words: Vec<(Col, Words)>,
}

impl Fields {
    /// Reads the source columns of the requested columns.
    pub fn read(reading: &mut Reading<'_>, plan: &Plan) -> Result<Self> {
        let builder = &reading.builder;
        let is_needed = |(column, names, _): &&Source<Col>| {
            names.is_empty() || builder.wants(names) || plan.always.contains(column)
        };
        let (texts, numbers): (Vec<&Source<Col>>, Vec<_>) =
            plan.layout.iter().filter(is_needed).partition(|(_, _, rule)| rule.is_of_text());
        let with_values = plan.kind == RecordKind::Counters || plan.kind == RecordKind::StreamedCounters;
        let make = || Self {
            numbers: numbers.iter().map(|(column, ..)| (*column, Vec::new())).collect(),
            words: texts.iter().map(|(column, ..)| (*column, Words::default())).collect(),
            ..Self::default()
        };
        let visit = |fields: &mut Self, row: &UnderstoodRow<'_>| {
            if !(plan.keep)(row) {
                return;
            }
            fields.height += 1;
            fields.marks.push((plan.mark)(row));
            if with_values {
                fields.values.push(row.value);
            }
            for (column, values) in &mut fields.numbers {
                values.push(row.number(*column));
            }
            for (column, words) in &mut fields.words {
                words.push(row.text(*column));
            }
        };
        let table = builder.table_name();
        let parts = reading.capture.records(plan.kind, table, &mut reading.findings, make, visit)?;
        let mut all = make();
        for part in parts {
            all.append(part);
        }
        Ok(all)
    }

    /// Appends the rows of other fields. A column that only one of them has gets nulls for the rows of the other.
    pub fn append(&mut self, other: Self) {
        let before = self.height;
        self.height += other.height;
        self.marks.extend(other.marks);
        self.values.extend(other.values);
        for (column, values) in other.numbers {
            match self.numbers.iter_mut().find(|(known, _)| *known == column) {
                Some((_, known)) => known.extend(values),
                None => {
                    let mut filled = vec![None; before];
                    filled.extend(values);
                    self.numbers.push((column, filled));
                }
            }
        }
        for (column, words) in other.words {
            match self.words.iter_mut().find(|(known, _)| *known == column) {
                Some((_, known)) => known.append(words),
                None => {
                    let mut filled = Words::nulls(before);
                    filled.append(words);
                    self.words.push((column, filled));
                }
            }
        }
        for (_, values) in &mut self.numbers {
            values.resize(self.height, None);
        }
        for (_, words) in &mut self.words {
            words.codes.resize(self.height, None);
        }
    }

    /// Keeps the marked rows.
    pub fn retain(&mut self, marks: &[bool]) {
        let keep = |at: usize| marks.get(at).copied().unwrap_or(false);
        fn filter<T>(values: &mut Vec<T>, keep: &impl Fn(usize) -> bool) {
            let mut at = 0;
            values.retain(|_| {
                at += 1;
                keep(at - 1)
            });
        }
        self.height = marks.iter().filter(|mark| **mark).count();
        filter(&mut self.marks, &keep);
        filter(&mut self.values, &keep);
        for (_, values) in &mut self.numbers {
            filter(values, &keep);
        }
        for (_, words) in &mut self.words {
            filter(&mut words.codes, &keep);
        }
    }

    /// The numbers of a column; `None` if it was not requested.
    pub fn slice(&self, column: Col) -> Option<&[Option<i64>]> {
        self.numbers.iter().find(|(known, _)| *known == column).map(|(_, values)| values.as_slice())
    }

    /// The number of a column in a row.
    pub fn number(&self, column: Col, row: usize) -> Option<i64> {
        self.slice(column)?.get(row).copied().flatten()
    }

    /// The dispatch run of a row.
    pub fn run(&self, row: usize) -> DispatchRun {
        let number = |column: Col| self.number(column, row);
        DispatchRun { replay: number(Col::ReplayPass), start: number(Col::Start), end: number(Col::End) }
    }

    /// The numbers of a column as a polars column; nulls if it was not requested.
    pub fn get(&self, column: Col) -> Int64Chunked {
        self.slice(column).map_or_else(
            || Int64Chunked::full_null("".into(), self.height),
            |values| Int64Chunked::from_iter_options("".into(), values.iter().copied()),
        )
    }

    /// The texts of a column; nulls if it was not requested.
    pub fn words(&self, column: Col) -> Cow<'_, Words> {
        self.words
            .iter()
            .find(|(known, _)| *known == column)
            .map_or_else(|| Cow::Owned(Words::nulls(self.height)), |(_, words)| Cow::Borrowed(words))
    }
}

impl RawRows<Col> for Fields {
    fn keys(&self) -> Int64Chunked {
        ordinals(self.height)
    }

    fn numbers(&self, column: Col) -> Int64Chunked {
        self.get(column)
    }

    fn words(&self, column: Col) -> Result<Column> {
        self.words(column).texts("")
    }

    fn categories(&self, column: Col) -> Result<Column> {
        self.words(column).categories("")
    }
}

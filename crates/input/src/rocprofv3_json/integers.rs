//! The requested integer columns of records.

use anyhow::Result;
use polars::prelude::*;
use polars_arrow::array::PrimitiveArray;

use super::capture::{Capture, SectionAnomalies};
use super::layout::{Records, Selected};
use super::parsing::row::Row;
use super::parts::{Collector, Shortcuts};
use super::structure::index::{Part, Section};
use super::template::{IntColumn, Packed, Runner, Stop};

/// Columns of the requested fields, for all records in order. They stay packed until they are used, so that the columns of a long section
/// are never all in memory as 64-bit integers.
#[derive(Debug, Default)]
pub struct Integers {
    columns: Vec<(&'static str, Packed)>,
    /// Records.
    pub height: usize,
}

/// Columns of a part, from templates or from the general parser.
#[derive(Default)]
struct PartColumns {
    packed: Vec<Packed>,
    read: Vec<IntColumn>,
}

impl PartColumns {
    fn of(packed: Vec<Packed>) -> Self {
        Self { packed, read: Vec::new() }
    }

    fn into_packed(self) -> impl Iterator<Item = Packed> {
        self.packed.into_iter().chain(self.read.into_iter().map(Packed::from))
    }
}

impl Integers {
    /// Reads the selected fields of the records of a section.
    pub fn read<R: Records>(
        capture: &Capture,
        section: &Section,
        selected: &Selected,
        findings: &mut SectionAnomalies,
    ) -> Result<Self> {
        let names = selected.names();
        let new = || PartColumns { packed: Vec::new(), read: vec![IntColumn::default(); names.len()] };
        let push = |part: &mut PartColumns, record: Row<R>| {
            if selected.keep.accepts(record.get("start"), record.get("end")) {
                for (column, field) in part.read.iter_mut().zip(&selected.fields) {
                    column.push(record.values.get(*field).copied().flatten());
                }
            }
        };
        let gathered = |parts: &[Part]| {
            let (columns, count) = capture.file.gathered.take(parts, &section.name, &names, selected.keep)?;
            Some((PartColumns::of(columns), count))
        };
        let template = |text: &[u8], length: usize| {
            let columns = by_template(selected, text, length)?;
            Some(PartColumns::of(columns.into_iter().map(Packed::from).collect()))
        };
        let shortcuts = Some(Shortcuts { gathered: &gathered, template: &template });
        let parts = capture.collect(section, findings, &Collector { new: &new, push: &push, shortcuts })?;
        let mut columns: Vec<_> = names.iter().map(|name| (*name, Packed::default())).collect();
        for part in parts {
            columns.iter_mut().zip(part.into_packed()).for_each(|((_, column), added)| column.append(added));
        }
        let height = columns.first().map_or(0, |(_, column)| column.len());
        Ok(Self { columns, height })
    }

    /// Adds the rows of `other` at the end; both hold the same columns, unless one has no rows.
    pub fn append(&mut self, other: Self) {
        if self.columns.is_empty() {
            self.columns = other.columns;
        } else {
            for ((_, column), (_, added)) in self.columns.iter_mut().zip(other.columns) {
                column.append(added);
            }
        }
        self.height += other.height;
    }

    fn column(&self, name: &str) -> Option<&Packed> {
        self.columns.iter().find(|(known, _)| *known == name).map(|(_, column)| column)
    }

    /// The column of a field; nulls if it was not requested.
    pub fn get(&self, name: &str) -> Int64Chunked {
        let column = self.column(name).map(|column| array(name, column.unpacked()));
        column.unwrap_or_else(|| Int64Chunked::full_null(name.into(), self.height))
    }

    /// Works like [`Integers::get`], and drops the packed column, so that its values are in memory only once.
    pub fn take(&mut self, name: &str) -> Int64Chunked {
        let column = self.get(name);
        self.columns.retain(|(known, _)| *known != name);
        column
    }

    /// The rows of a field in order; empty if it was not requested.
    pub fn rows(&self, name: &str) -> impl Iterator<Item = Option<i64>> + '_ {
        self.column(name).into_iter().flat_map(Packed::rows)
    }

    /// Starts and ends in pieces; empty if they were not requested.
    pub fn times(&self) -> impl Iterator<Item = (Int64Chunked, Int64Chunked)> + '_ {
        let pieces = |name: &'static str| {
            let column = self.column(name).into_iter();
            column.flat_map(Packed::pieces).map(move |piece| array(name, piece))
        };
        pieces("start").zip(pieces("end"))
    }

    /// The rows whose mark is set.
    ///
    /// # Errors
    /// When there are not as many marks as rows.
    pub fn filter(mut self, marks: &BooleanChunked) -> Result<Self> {
        for (name, column) in &mut self.columns {
            let mut kept = IntColumn::default();
            array(name, column.unpacked()).filter(marks)?.iter().for_each(|value| kept.push(value));
            *column = kept.into();
        }
        self.height = marks.sum().unwrap_or(0) as usize;
        Ok(self)
    }
}

fn array(name: &str, values: PrimitiveArray<i64>) -> Int64Chunked {
    Int64Chunked::with_chunk(name.into(), values)
}

/// Reads the records of a part by templates: the first `length` bytes of a text, which are followed by zeros. `None` if the templates do
/// not read all of it.
pub(crate) fn by_template(selected: &Selected, text: &[u8], length: usize) -> Option<Vec<IntColumn>> {
    let mut runner = Runner::new(selected, text)?;
    let mut run = runner.run(text, 0, length);
    if run.stop == Stop::NoComma {
        runner.last(text, length, &mut run)?;
    }
    (run.end >= length && run.behind_comma <= length).then_some(run.columns)
}

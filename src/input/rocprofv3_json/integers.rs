//! Integer columns of records, those that are wanted.

use std::marker::PhantomData;

use anyhow::Result;
use polars::prelude::*;
use serde::de::DeserializeOwned;

use super::capture::{Capture, Findings};
use super::index::Section;
use super::parts::Sink;
use crate::input::common::TableBuilder;

/// A value of a record, and which canonical columns need it.
pub struct Field<R> {
    /// Name of the column in [`Integers`].
    pub name: &'static str,
    /// Canonical columns made from it; none if it is always needed.
    pub for_columns: &'static [&'static str],
    /// Takes it from a record.
    pub get: fn(&R) -> Option<i64>,
}

/// Columns of the fields that were wanted, of all records in order.
#[derive(Debug, Default)]
pub struct Integers {
    columns: Vec<(&'static str, Int64Chunked)>,
    /// Records.
    pub height: usize,
}

struct Columns<'f, W, R> {
    record: PhantomData<fn(W)>,
    fields: &'f [&'f Field<R>],
    keep: fn(&R) -> bool,
    builders: Vec<PrimitiveChunkedBuilder<Int64Type>>,
    height: usize,
}

impl<W: DeserializeOwned + Into<R>, R> Sink for Columns<'_, W, R> {
    type Output = Integers;
    type Record<'de> = W;

    fn push(&mut self, record: W) {
        let record: R = record.into();
        if (self.keep)(&record) {
            self.height += 1;
            for (builder, field) in self.builders.iter_mut().zip(self.fields) {
                builder.append_option((field.get)(&record));
            }
        }
    }

    fn finish(self) -> Integers {
        let columns = self.fields.iter().zip(self.builders);
        Integers {
            columns: columns.map(|(field, builder)| (field.name, builder.finish())).collect(),
            height: self.height,
        }
    }
}

impl Integers {
    /// Reads the wanted fields of the records of a section that `keep` accepts. `W` is how the file spells them.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read<W: DeserializeOwned + Into<R>, R>(
        capture: &Capture,
        section: &Section,
        builder: &TableBuilder<'_>,
        fields: &'static [Field<R>],
        keep: fn(&R) -> bool,
        findings: &mut Findings,
    ) -> Result<Self> {
        let fields: Vec<&Field<R>> =
            fields.iter().filter(|field| field.for_columns.is_empty() || builder.wants(field.for_columns)).collect();
        let sink = || Columns::<W, R> {
            record: PhantomData,
            fields: &fields,
            keep,
            builders: fields.iter().map(|field| PrimitiveChunkedBuilder::new(field.name.into(), 0)).collect(),
            height: 0,
        };
        let mut all = Self::default();
        for part in capture.records(section, findings, sink)? {
            all.append(part)?;
        }
        Ok(all)
    }

    /// Adds the rows of `other` at the end; both hold the same columns, unless one has no rows.
    ///
    /// # Errors
    /// When polars cannot join the columns.
    pub fn append(&mut self, other: Self) -> Result<()> {
        if self.columns.is_empty() {
            self.columns = other.columns;
        } else {
            for ((_, column), (_, added)) in self.columns.iter_mut().zip(other.columns) {
                column.append_owned(added)?;
            }
        }
        self.height += other.height;
        Ok(())
    }

    /// The column of a field; nulls if it was not wanted.
    pub fn get(&self, name: &str) -> Int64Chunked {
        let column = self.columns.iter().find(|(known, _)| *known == name).map(|(_, column)| column);
        column.map_or_else(|| Int64Chunked::full_null(name.into(), self.height), |column| column.rechunk().into_owned())
    }

    /// The rows whose mark is set.
    ///
    /// # Errors
    /// When there are not as many marks as rows.
    pub fn filter(mut self, marks: &BooleanChunked) -> Result<Self> {
        self.height = marks.sum().unwrap_or(0) as usize;
        for (_, column) in &mut self.columns {
            *column = column.filter(marks)?;
        }
        Ok(self)
    }
}

/// Accepts every record.
pub fn every<R>(_: &R) -> bool {
    true
}

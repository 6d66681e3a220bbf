//! Integer columns of records, those that are wanted.

use std::marker::PhantomData;
use std::str::from_utf8;

use anyhow::Result;
use polars::prelude::*;
use polars_arrow::bitmap::Bitmap;
use serde::de::DeserializeOwned;

use super::capture::{Capture, SectionAnomalies};
use super::parts::{Shortcuts, Sink};
use super::structure::gathered::Keep;
use super::structure::index::{Part, Section};
use super::structure::sweep::Gather;
use super::template::{General, IntColumn, Packed, Runner, Shape, Stop, Wanted};

/// A value of a record, and which canonical columns need it.
pub struct Field<R> {
    /// Name of the column in [`Integers`].
    pub name: &'static str,
    /// Canonical columns made from it; none if it is always needed.
    pub for_columns: &'static [&'static str],
    /// Takes it from a record.
    pub get: fn(&R) -> Option<i64>,
    /// Where `get` finds it in a record that is spelled as `R` is.
    pub wanted: Wanted,
}

impl<R> Field<R> {
    /// A field that stands at the first of `paths` that is there.
    pub const fn new(
        name: &'static str,
        for_columns: &'static [&'static str],
        paths: &'static [&'static str],
        get: fn(&R) -> Option<i64>,
    ) -> Self {
        Self { name, for_columns, get, wanted: Wanted { paths, zero_is_none: false, counts: false } }
    }

    /// The number of elements of an array; an empty array counts as none.
    pub const fn counting(mut self) -> Self {
        self.wanted.counts = true;
        self.nonzero()
    }

    /// The same field with 0 standing for none, as `get` has it.
    pub(crate) const fn nonzero(mut self) -> Self {
        self.wanted.zero_is_none = true;
        self
    }
}

/// The fields of the records of a section.
pub struct Layout<R: 'static> {
    /// Fields; those that decide whether a record is kept are named `start` and `end`.
    pub fields: &'static [Field<R>],
    /// Members of a record that have to be objects, or null.
    pub objects: &'static [&'static str],
}

/// The fields that are wanted of a layout.
pub(crate) struct Selected<R: 'static> {
    /// Fields in the order of the layout.
    pub fields: Vec<&'static Field<R>>,
    /// Where they stand.
    pub wanted: Vec<Wanted>,
    /// Which records are kept.
    pub keep: Keep,
    objects: &'static [&'static str],
    by_template: bool,
}

impl<R> Selected<R> {
    /// The fields of a layout that columns for which `wants` holds are made from, and those that `keep` needs.
    pub fn new(layout: &Layout<R>, keep: Keep, wants: impl Fn(&[&str]) -> bool) -> Self {
        let is_time = |field: &Field<R>| keep != Keep::Every && matches!(field.name, "start" | "end");
        let is_wanted = |field: &Field<R>| field.for_columns.is_empty() || is_time(field) || wants(field.for_columns);
        let mut fields: Vec<&'static Field<R>> = layout.fields.iter().filter(|field| is_wanted(field)).collect();
        if fields.is_empty() {
            // One column is enough to count the rows.
            fields.extend(layout.fields.first());
        }
        let wanted = fields.iter().map(|field| field.wanted).collect();
        Self { fields, wanted, keep, objects: layout.objects, by_template: true }
    }

    /// The same for records that are spelled differently, so that they are left to the general parser.
    pub(crate) fn of_other_spelling(self) -> Self {
        Self { by_template: false, ..self }
    }

    /// Names of the fields.
    pub fn names(&self) -> Vec<&'static str> {
        self.fields.iter().map(|field| field.name).collect()
    }

    /// Reads one record, spelled as `W`, at the start of a text; see [`super::template::Shape::general`].
    pub fn general<W: DeserializeOwned + Into<R>>(&self, bytes: &[u8], values: &mut [Option<i64>]) -> Option<usize> {
        let mut records = serde_json::Deserializer::from_slice(bytes).into_iter::<W>();
        let record: R = records.next()?.ok()?.into();
        let length = records.byte_offset();
        from_utf8(bytes.get(..length)?).ok()?;
        for (value, field) in values.iter_mut().zip(&self.fields) {
            *value = (field.get)(&record);
        }
        Some(length)
    }

    /// The data to gather from sections while the file is looked through; see [`Selected::shape`].
    pub fn gather<'a>(&'a self, sections: Vec<String>, general: General<'a>) -> Gather<'a> {
        Gather { sections, names: self.names(), keep: self.keep, shape: self.shape(general) }
    }

    /// The shape for templates, which `general` completes.
    pub fn shape<'a>(&'a self, general: General<'a>) -> Shape<'a> {
        let place = |name: &str| self.fields.iter().position(|field| field.name == name);
        let with_length = match self.keep {
            Keep::Every => None,
            Keep::WithLength => Some(true),
            Keep::WithoutLength => Some(false),
        };
        let times = with_length.and_then(|with_length| Some((place("start")?, place("end")?, with_length)));
        Shape { wanted: &self.wanted, objects: self.objects, times, general }
    }
}

/// Columns of the fields that were wanted, of all records in order. They stay packed until they are requested, so that
/// those of a long section are never all in memory as 64-bit integers.
#[derive(Debug, Default)]
pub struct Integers {
    columns: Vec<(&'static str, Packed)>,
    /// Records.
    pub height: usize,
}

struct Columns<'f, W, R: 'static> {
    record: PhantomData<fn(W)>,
    selected: &'f Selected<R>,
    columns: Vec<IntColumn>,
}

impl<W: DeserializeOwned + Into<R>, R> Sink for Columns<'_, W, R> {
    type Output = Vec<Packed>;
    type Record<'de> = W;

    fn push(&mut self, record: W) {
        let record: R = record.into();
        let field = |name: &str| self.selected.fields.iter().find(|field| field.name == name);
        let time = |name: &str| field(name).and_then(|field| (field.get)(&record));
        if self.selected.keep.accepts(|| (time("start"), time("end"))) {
            for (column, field) in self.columns.iter_mut().zip(&self.selected.fields) {
                column.push((field.get)(&record));
            }
        }
    }

    fn finish(self) -> Vec<Packed> {
        packed(self.columns)
    }
}

impl Integers {
    /// Reads the selected fields of the records of a section. `W` is how the file spells them.
    pub fn read<W: DeserializeOwned + Into<R>, R>(
        capture: &Capture,
        section: &Section,
        selected: &Selected<R>,
        findings: &mut SectionAnomalies,
    ) -> Result<Self> {
        let sink = || Columns::<W, R> {
            record: PhantomData,
            selected,
            columns: vec![IntColumn::default(); selected.fields.len()],
        };
        let names = selected.names();
        let gathered = |parts: &[Part]| capture.file.gathered.take(parts, &section.name, &names, selected.keep);
        let general = |bytes: &[u8], values: &mut [Option<i64>]| selected.general::<W>(bytes, values);
        let template = |text: &[u8], length: usize| by_template(selected.shape(&general), text, length).map(packed);
        let shortcuts = Shortcuts { gathered: &gathered, template: &template };
        let parts = capture.records_by(section, findings, sink, Some(&shortcuts).filter(|_| selected.by_template))?;
        Ok(Self::joined(&names, parts))
    }

    fn joined(names: &[&'static str], parts: Vec<Vec<Packed>>) -> Self {
        let mut columns: Vec<_> = names.iter().map(|name| (*name, Packed::default())).collect();
        for part in parts {
            columns.iter_mut().zip(part).for_each(|((_, column), added)| column.append(added));
        }
        let height = columns.first().map_or(0, |(_, column)| column.len());
        Self { columns, height }
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

    /// The column of a field; nulls if it was not wanted.
    pub fn get(&self, name: &str) -> Int64Chunked {
        let column = self.column(name).map(|column| array(name, column.unpacked()));
        column.unwrap_or_else(|| Int64Chunked::full_null(name.into(), self.height))
    }

    /// As [`Integers::get`], of a column that is not needed any more, so that its values are in memory once.
    pub fn take(&mut self, name: &str) -> Int64Chunked {
        let column = self.get(name);
        self.columns.retain(|(known, _)| *known != name);
        column
    }

    /// The rows of a field in order; none if it was not wanted.
    pub fn rows(&self, name: &str) -> impl Iterator<Item = Option<i64>> + '_ {
        self.column(name).into_iter().flat_map(Packed::rows)
    }

    /// Starts and ends in pieces; none if they were not wanted.
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

fn packed(columns: Vec<IntColumn>) -> Vec<Packed> {
    columns.into_iter().map(Packed::from).collect()
}

fn array(name: &str, column: IntColumn) -> Int64Chunked {
    let length = column.len();
    let (values, present) = column.into_parts();
    if values.is_empty() {
        return Int64Chunked::full_null(name.into(), length);
    }
    let present = present.and_then(|bits| Bitmap::try_new(bits, length).ok());
    Int64Chunked::from_vec_validity(name.into(), values, present)
}

/// Reads the records of a part by templates: the first `length` bytes of a text, which zeros follow. `None` if that does
/// not read all of it.
pub(crate) fn by_template(shape: Shape<'_>, text: &[u8], length: usize) -> Option<Vec<IntColumn>> {
    let mut runner = Runner::new(shape, text)?;
    let mut run = runner.run(text, 0, length);
    if run.stop == Stop::NoComma {
        runner.last(text, length, &mut run)?;
    }
    (run.end >= length && run.behind_comma <= length).then_some(run.columns)
}

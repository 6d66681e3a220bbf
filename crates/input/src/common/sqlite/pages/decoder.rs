//! Decodes leaf pages to columns.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cell::{assemble, cell, is_of_table};
use super::cells::Cells;
use super::fault::{Fault, Stop, UnreadablePage};
use super::format::Pages;
use super::layout::Layout;
use super::record::{ABSENT, Slots, integer, text_ends_in_zeros, value};
use super::row_test::RowTest;
use super::tree::Leaf;
use super::value::Value;

const CACHE_LINE_BYTES: usize = 64;

/// Storage place of a column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    RowId,
    /// In the records.
    Field {
        /// Position among the columns of the table.
        position: usize,
        /// Whether its integers represent reals.
        is_real: bool,
        /// Whether rows without it have a default value, which only SQLite knows.
        has_default: bool,
    },
}

#[derive(Clone, Copy, Debug)]
struct Field {
    is_real: bool,
    has_default: bool,
}

#[derive(Clone, Copy, Debug)]
enum ValuePlace {
    RowId,
    Slot(usize),
}

/// The fields to take from every row of a table.
#[derive(Debug)]
pub struct Plan {
    positions: Vec<usize>,
    fields: Vec<Field>,
    columns: Vec<ValuePlace>,
    tests: Vec<RowTest<ValuePlace>>,
    text_of_blob: fn(&[u8]) -> Option<String>,
    /// Whether records are followed to their ends, even if fewer bytes are needed.
    whole_records: bool,
    /// The layout of the table's records, if it is known.
    layout: Option<Arc<Layout>>,
    /// Bytes of overflow pages that have been read so far.
    assembled: AtomicUsize,
}

impl Plan {
    /// Plans to read `columns` of the rows that pass all tests. `text_of_blob` returns the text in a blob, if there is one.
    pub fn new(columns: &[Stored], tests: &[RowTest<Stored>], text_of_blob: fn(&[u8]) -> Option<String>) -> Self {
        let used = columns.iter().chain(tests.iter().flat_map(RowTest::columns));
        let mut fields: Vec<(usize, Field)> = used
            .filter_map(|stored| match *stored {
                Stored::RowId => None,
                Stored::Field { position, is_real, has_default } => Some((position, Field { is_real, has_default })),
            })
            .collect();
        fields.sort_by_key(|(position, _)| *position);
        fields.dedup_by_key(|(position, _)| *position);
        let place = |stored: &Stored| match *stored {
            Stored::RowId => ValuePlace::RowId,
            Stored::Field { position, .. } => ValuePlace::Slot(fields.partition_point(|(other, _)| *other < position)),
        };
        Self {
            columns: columns.iter().map(place).collect(),
            tests: tests.iter().map(|test| test.map(place)).collect(),
            positions: fields.iter().map(|(position, _)| *position).collect(),
            fields: fields.into_iter().map(|(_, field)| field).collect(),
            text_of_blob,
            whole_records: false,
            layout: None,
            assembled: AtomicUsize::new(0),
        }
    }

    /// Adds a layout: pages whose rows cannot belong to a table with this layout are left out.
    #[must_use]
    pub(crate) fn with_layout(self, layout: Option<Arc<Layout>>) -> Self {
        Self { layout, ..self }
    }

    /// Follows all records to their ends, to find missing bytes of any record.
    #[must_use]
    pub(crate) fn with_whole_records(self) -> Self {
        Self { whole_records: true, ..self }
    }
}

/// Columns of some rows.
#[derive(Debug)]
pub struct Chunk<'a> {
    pub rows: usize,
    /// Their row ids, with room for the maximum number of rows; empty if they are not requested.
    pub ids: &'a mut [i64],
    /// Columns as planned.
    pub columns: Vec<Cells<'a>>,
    /// Pages that could not be read, or not to their end.
    pub lost: Vec<UnreadablePage>,
}

/// Decodes leaf pages.
#[derive(Debug)]
pub struct Decoder<'a> {
    pages: Pages<'a>,
    plan: &'a Plan,
    slots: Slots,
    record: Vec<u8>,
}

impl<'a> Decoder<'a> {
    /// Decodes pages of a file as planned.
    pub fn new(pages: Pages<'a>, plan: &'a Plan) -> Self {
        Self { pages, plan, slots: Slots::default(), record: Vec::new() }
    }

    /// Adds the rows of some leaves, in this order. The chunk records the lost pages.
    ///
    /// # Errors
    /// When only SQLite can interpret a value.
    pub fn decode(&mut self, leaves: &[Leaf], chunk: &mut Chunk<'_>) -> Result<(), &'static str> {
        for leaf in leaves.iter().filter(|leaf| leaf.rows > 0) {
            match self.leaf(leaf, chunk) {
                Ok(()) => {}
                Err(Stop::Fault(fault)) => chunk.lost.push(UnreadablePage { page: leaf.page, fault }),
                Err(Stop::OnlySqlite(reason)) => return Err(reason),
            }
        }
        Ok(())
    }

    fn leaf(&mut self, leaf: &Leaf, chunk: &mut Chunk<'_>) -> Result<(), Stop> {
        let range = self.pages.range(leaf.page).ok_or(Fault::BehindEnd)?;
        fetch(self.pages.file.get(range.0..range.1).unwrap_or_default());
        if self.plan.layout.as_ref().is_some_and(|layout| !is_of_table(self.pages, leaf, layout)) {
            return Err(Fault::OtherTable.into());
        }
        let mut last = leaf.above;
        let mut first_fault = Ok(());
        for index in 0..usize::from(leaf.rows) {
            match self.place(leaf, range, index, &mut last, chunk) {
                Ok(()) => {}
                // The other rows are elsewhere in the page.
                Err(Stop::Fault(fault)) => first_fault = first_fault.and(Err(Stop::Fault(fault))),
                stop => return stop,
            }
        }
        first_fault
    }

    #[inline]
    fn place(
        &mut self,
        leaf: &Leaf,
        range: (usize, usize),
        index: usize,
        last: &mut Option<i64>,
        chunk: &mut Chunk<'_>,
    ) -> Result<(), Stop> {
        let cell = cell(self.pages, leaf, range, index)?;
        if last.is_some_and(|last| cell.id <= last) || leaf.up_to.is_some_and(|up_to| cell.id > up_to) {
            return Err(Fault::OutOfOrder.into());
        }
        let mut record = std::mem::take(&mut self.record);
        let added = self.row(&cell, &mut record, chunk);
        self.record = record;
        added?;
        *last = Some(cell.id);
        Ok(())
    }

    #[inline]
    fn row(&mut self, cell: &super::cell::Cell, record: &mut Vec<u8>, chunk: &mut Chunk<'_>) -> Result<(), Stop> {
        let mut bytes = self.pages.file;
        let mut start = cell.start;
        let mut held = cell.local;
        let local = bytes.get(start..start + held).ok_or(Fault::CellOutside)?;
        if self.plan.whole_records && held < cell.total {
            self.assemble(cell, cell.total, record)?;
            if text_ends_in_zeros(record) {
                return Err(Fault::BrokenOverflow.into());
            }
        }
        if held < cell.total && Slots::header_bytes(local).is_none_or(|header| header > held) {
            self.assemble(cell, cell.total, record)?;
            held = record.len();
            (bytes, start) = (record.as_slice(), 0);
        }
        let slice = bytes.get(start..start + held).ok_or(Fault::CellOutside)?;
        self.slots.find(slice, &self.plan.positions)?;
        if self.slots.end > held {
            if self.slots.end > cell.total {
                return Err(Fault::BadRecord.into());
            }
            self.assemble(cell, self.slots.end, record)?;
            (bytes, start) = (record.as_slice(), 0);
            if record.len() == cell.total && text_ends_in_zeros(record) {
                return Err(Fault::BrokenOverflow.into());
            }
        }
        if !self.plan.tests.is_empty() && !self.passes(bytes, start, cell.id)? {
            return Ok(());
        }
        let row = chunk.rows;
        if let Some(place) = chunk.ids.get_mut(row) {
            *place = cell.id;
        }
        for (cells, place) in chunk.columns.iter_mut().zip(&self.plan.columns) {
            let (slot, field) = match place {
                ValuePlace::RowId => {
                    cells.put_integer(row, cell.id, cell.id);
                    continue;
                }
                ValuePlace::Slot(at) => match (self.slots.slots.get(*at), self.plan.fields.get(*at)) {
                    (Some(slot), Some(field)) => (*slot, *field),
                    _ => return Err(Stop::OnlySqlite("a column is not planned")),
                },
            };
            match integer(bytes, start, slot) {
                Some(integer) if !field.is_real => cells.put_integer(row, cell.id, integer),
                _ => {
                    let value = unexpected_value(value(bytes, start, slot), slot.serial, field)?;
                    cells.put_value(row, cell.id, value, self.plan.text_of_blob);
                }
            }
        }
        chunk.rows += 1;
        Ok(())
    }

    /// Copies a record, within a limit. Each overflow page belongs to one record, which is assembled twice at most. Without the limit,
    /// damaged records that share pages could take far more time than the size of the file explains.
    fn assemble(&self, cell: &super::cell::Cell, wanted: usize, record: &mut Vec<u8>) -> Result<(), Fault> {
        let before = self.plan.assembled.fetch_add(wanted.saturating_sub(cell.local), Ordering::Relaxed);
        if before > self.pages.file.len().saturating_mul(2) {
            return Err(Fault::BrokenOverflow);
        }
        assemble(self.pages, cell, wanted, record)
    }

    fn passes(&self, bytes: &[u8], start: usize, id: i64) -> Result<bool, Stop> {
        let unknown = std::cell::Cell::new(None);
        let of = |place: &ValuePlace| -> Value<'_> {
            let ValuePlace::Slot(at) = place else { return Value::Integer(id) };
            let (Some(slot), Some(field)) = (self.slots.slots.get(*at), self.plan.fields.get(*at)) else {
                return Value::Null;
            };
            unexpected_value(value(bytes, start, *slot), slot.serial, *field).unwrap_or_else(|stop| {
                unknown.set(Some(stop));
                Value::Null
            })
        };
        for test in &self.plan.tests {
            let holds = test.holds(of);
            if let Some(stop) = unknown.take() {
                return Err(stop);
            }
            match holds {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => return Err(Stop::OnlySqlite("a value that rows are chosen by is of another type")),
            }
        }
        Ok(true)
    }
}

/// Touches every cache line of a page. The rows of a page are read from its end to its start, and each row determines where the next one
/// is. The processor would wait for every line separately; this loop fetches them together.
#[inline]
fn fetch(page: &[u8]) {
    std::hint::black_box(page.iter().step_by(CACHE_LINE_BYTES).fold(0_u8, |all, byte| all ^ byte));
}

/// A value, converted to the declared type of its column.
#[inline]
fn unexpected_value(value: Value<'_>, serial: u64, field: Field) -> Result<Value<'_>, Stop> {
    match value {
        Value::Integer(integer) if field.is_real => Ok(Value::Real(integer as f64)),
        Value::Null if serial == ABSENT && field.has_default => {
            Err(Stop::OnlySqlite("a column was added with a default value"))
        }
        other => Ok(other),
    }
}

//! Joins the parts of a table to columns.

use polars::prelude::{PlSmallStr, StringChunked, StringChunkedBuilder};
use polars_arrow::bitmap::{Bitmap, MutableBitmap};

use super::column::{TypeMismatch, Wanted};
use super::pages::{Cells, Chunk, Texts, TypeMismatches, UnexpectedType, UnreadablePage};

/// The rest of a chunk, without its value buffers.
pub struct ChunkRest {
    pub rows: usize,
    valid: Vec<Vec<bool>>,
    texts: Vec<Texts>,
    /// Values of other types, by column.
    pub type_mismatches: Vec<TypeMismatches>,
    /// Pages that could not be read, or not to their end.
    pub lost: Vec<UnreadablePage>,
}

impl ChunkRest {
    /// Drops the value buffers.
    pub fn new(chunk: Chunk<'_>) -> Self {
        let mut part = Self {
            rows: chunk.rows,
            valid: Vec::with_capacity(chunk.columns.len()),
            texts: Vec::with_capacity(chunk.columns.len()),
            type_mismatches: chunk.columns.iter().map(|cells| *cells.type_mismatches()).collect(),
            lost: chunk.lost,
        };
        for cells in chunk.columns {
            let (valid, texts) = match cells {
                Cells::Integer(numbers) => (numbers.valid, Texts::default()),
                Cells::Real(numbers) => (numbers.valid, Texts::default()),
                Cells::Text(texts) => (Vec::new(), texts),
            };
            part.valid.push(valid);
            part.texts.push(texts);
        }
        part
    }
}

/// Moves the values of the parts together, if parts have fewer rows than room.
pub(crate) fn close_gaps<T: Copy>(values: &mut Vec<T>, room: &[usize], rows: &[usize]) {
    let (mut from, mut to) = (0, 0);
    for (room, rows) in room.iter().zip(rows) {
        if from != to && from + rows <= values.len() {
            values.copy_within(from..from + rows, to);
        }
        from += room;
        to += rows;
    }
    if to < values.len() {
        values.truncate(to);
        values.shrink_to_fit();
    }
}

/// Marks of the rows of a column with a value; `None` if all rows have one.
pub fn validity(parts: &[ChunkRest], column: usize, height: usize) -> Option<Bitmap> {
    let of = |part: &ChunkRest| part.valid.get(column).is_some_and(|valid| !valid.is_empty());
    if !parts.iter().any(of) {
        return None;
    }
    let mut bits = MutableBitmap::with_capacity(height);
    for part in parts {
        match part.valid.get(column).filter(|valid| !valid.is_empty()) {
            Some(valid) => bits.extend_from_trusted_len_iter(valid.iter().copied()),
            None => bits.extend_constant(part.rows, true),
        }
    }
    Some(bits.into())
}

pub fn texts(name: PlSmallStr, parts: &[ChunkRest], column: usize, height: usize) -> StringChunked {
    let mut builder = StringChunkedBuilder::new(name, height);
    let texts = parts.iter().filter_map(|part| part.texts.get(column));
    texts.flat_map(Texts::optional_texts).for_each(|text| builder.append_option(text));
    builder.finish()
}

/// Values of another kind than expected in a column.
pub fn named(wanted: &Wanted, type_mismatches: &TypeMismatches) -> impl Iterator<Item = TypeMismatch> {
    let (column, kind) = (wanted.name, wanted.kind);
    [UnexpectedType::Real, UnexpectedType::Text, UnexpectedType::Blob]
        .into_iter()
        .zip(type_mismatches.found)
        .filter_map(move |(odd, found)| {
            let (count, first_id) = found?;
            Some(TypeMismatch { column, found: kind.quoted_name(odd), count, first_id })
        })
}

/// A description of the lost pages. It does not depend on the requested rows.
pub fn damage(lost: &[UnreadablePage]) -> Option<String> {
    let first = lost.first()?;
    let (count, page, fault) = (lost.len(), first.page, first.fault);
    Some(match count {
        1 => format!("page {page} {fault}; rows of other pages are read"),
        _ => {
            format!("{count} pages cannot be read, such as page {page}, which {fault}; rows of other pages are read")
        }
    })
}

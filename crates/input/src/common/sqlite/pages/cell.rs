//! Cells of leaf pages: a row id and a record, which may continue on overflow pages.

use super::bytes::{u16_at, u32_at, varint};
use super::fault::Fault;
use super::format::Pages;
use super::layout::Layout;
use super::tree::{Leaf, header_at};

/// Maximum number of zeros at the end of a record on its own page: a number may have them. More zeros mean a page that was never written.
const MAX_ZEROS: usize = 8;

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub id: i64,
    /// Bytes of the record.
    pub total: usize,
    /// Offset of the record in the file.
    pub start: usize,
    /// Bytes of the record in this cell.
    pub local: usize,
    /// Offset of the end of these bytes.
    end: usize,
}

/// The cell `index` of a leaf page. `begin` and `end` are the offsets of the page in the file.
#[inline]
pub fn cell(pages: Pages<'_>, leaf: &Leaf, (begin, end): (usize, usize), index: usize) -> Result<Cell, Fault> {
    let file = pages.file;
    let pointer = begin + header_at(leaf.page) + 8 + 2 * index;
    let at = begin + usize::from(u16_at(file, pointer).ok_or(Fault::CellOutside)?);
    let (total, total_bytes) = varint(file, at).ok_or(Fault::CellOutside)?;
    let (id, id_bytes) = varint(file, at + total_bytes).ok_or(Fault::CellOutside)?;
    let total = usize::try_from(total).map_err(|_| Fault::BadRecord)?;
    if total > pages.file.len() {
        return Err(Fault::BadRecord);
    }
    let start = at + total_bytes + id_bytes;
    let local = pages.format.local_bytes(total);
    if start + local > end {
        return Err(Fault::CellOutside);
    }
    Ok(Cell { id: id as i64, total, start, local, end: start + local })
}

/// Whether the rows of a leaf can belong to a table. The first row decides, or the last row if the first is damaged.
pub(crate) fn is_of_table(pages: Pages<'_>, leaf: &Leaf, layout: &Layout) -> bool {
    let Some(range) = pages.range(leaf.page) else { return true };
    let fits = |index: usize| {
        let cell = cell(pages, leaf, range, index).ok();
        // The decoder finds unreadable cells one by one.
        let record = cell.and_then(|cell| pages.file.get(cell.start..cell.end));
        record.is_none_or(|record| layout.fits(record))
    };
    leaf.rows == 0 || fits(0) || leaf.rows > 1 && fits(usize::from(leaf.rows) - 1)
}

/// Copies at least the first `wanted` bytes of a record, or the whole record, into `record`.
///
/// # Errors
/// When an overflow page is missing.
pub(crate) fn assemble(pages: Pages<'_>, cell: &Cell, wanted: usize, record: &mut Vec<u8>) -> Result<(), Fault> {
    record.clear();
    record.extend_from_slice(pages.file.get(cell.start..cell.end).ok_or(Fault::CellOutside)?);
    let wanted = wanted.min(cell.total);
    let mut next = u32_at(pages.file, cell.end).ok_or(Fault::BrokenOverflow)?;
    // Every page adds missing bytes, so that a cycle of pages also ends.
    while record.len() < wanted {
        let page = pages.page(next).ok_or(Fault::BrokenOverflow)?;
        let content = page.get(4..).ok_or(Fault::BrokenOverflow)?;
        let missing = cell.total - record.len();
        if missing > MAX_ZEROS && page.iter().all(|byte| *byte == 0) {
            return Err(Fault::BrokenOverflow);
        }
        record.extend_from_slice(content.get(..missing.min(content.len())).unwrap_or_default());
        next = u32_at(page, 0).ok_or(Fault::BrokenOverflow)?;
    }
    // Only the last page has no next page.
    if record.len() == cell.total && next != 0 {
        return Err(Fault::BrokenOverflow);
    }
    Ok(())
}

//! The header of a database file, and its pages.

use thiserror::Error;

use super::bytes::{u16_at, u32_at};

const MAGIC: &[u8] = b"SQLite format 3\0";
/// Size of the file header, which precedes the header of the first page.
pub(crate) const FILE_HEADER_BYTES: usize = 100;
const UTF_8: u32 = 1;

/// Reason why this reader cannot read a file that SQLite might read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unsupported {
    /// Another magic number, or less than a header.
    #[error("it is not a SQLite database")]
    NotSqlite,
    /// A size that is not a power of two from 512 to 65,536, or too many reserved bytes.
    #[error("its pages have an impossible size")]
    PageSize,
    /// UTF-16.
    #[error("its texts are not UTF-8")]
    Encoding,
    /// A version or constant that SQLite has not written so far.
    #[error("its format is newer than this reader")]
    Newer,
}

/// Bytes of the database by its file header. `None` if SQLite ignores the page count there: it is zero, or was not written with the last
/// change.
pub(crate) fn stated_bytes(header: &[u8]) -> Option<u64> {
    let format = Format::parse(header).ok()?;
    let is_current = u32_at(header, 24) == u32_at(header, 92);
    let pages = u32_at(header, 28).filter(|pages| *pages > 0 && is_current)?;
    Some(u64::from(pages) * format.page_bytes as u64)
}

/// Sizes from the header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub page_bytes: usize,
    /// Bytes of a page without the reserved bytes at its end.
    pub usable_bytes: usize,
}

impl Format {
    /// Reads the header.
    ///
    /// # Errors
    /// When the file cannot be read here.
    pub fn parse(file: &[u8]) -> Result<Self, Unsupported> {
        let header = file.get(..FILE_HEADER_BYTES).ok_or(Unsupported::NotSqlite)?;
        if !header.starts_with(MAGIC) {
            return Err(Unsupported::NotSqlite);
        }
        let byte = |at: usize| header.get(at).copied().unwrap_or(0);
        let page_bytes = match u16_at(header, 16) {
            Some(1) => 65_536,
            Some(size) if size >= 512 && size.is_power_of_two() => usize::from(size),
            _ => return Err(Unsupported::PageSize),
        };
        let usable_bytes = page_bytes - usize::from(byte(20));
        if usable_bytes < 480 {
            return Err(Unsupported::PageSize);
        }
        // Write and read versions are 1 or 2. The shares of a page for records have always had the same values.
        let known = matches!((byte(18), byte(19)), (1 | 2, 1 | 2)) && (byte(21), byte(22), byte(23)) == (64, 32, 32);
        if !known || u32_at(header, 44).is_none_or(|version| version > 4) {
            return Err(Unsupported::Newer);
        }
        if u32_at(header, 56) != Some(UTF_8) {
            return Err(Unsupported::Encoding);
        }
        Ok(Self { page_bytes, usable_bytes })
    }

    /// Bytes of a record of `total` bytes in the leaf page; the other bytes are on overflow pages.
    #[inline]
    pub(crate) fn local_bytes(self, total: usize) -> usize {
        let usable = self.usable_bytes;
        let most = usable - 35;
        if total <= most {
            return total;
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let rest = least + (total - least) % (usable - 4);
        if rest <= most { rest } else { least }
    }
}

/// The pages of a file.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'a> {
    /// All bytes of the file.
    pub file: &'a [u8],
    pub format: Format,
}

impl<'a> Pages<'a> {
    /// The pages of a file in memory.
    pub fn new(file: &'a [u8]) -> Result<Self, Unsupported> {
        Ok(Self { file, format: Format::parse(file)? })
    }

    /// Number of pages; the last may be cut.
    pub fn count(self) -> usize {
        self.file.len().div_ceil(self.format.page_bytes)
    }

    /// Start and end of the usable bytes of a page in the file. The file may end within the page.
    #[inline]
    pub fn range(self, page: u32) -> Option<(usize, usize)> {
        let begin = (page as usize).checked_sub(1)?.checked_mul(self.format.page_bytes)?;
        let end = begin.checked_add(self.format.usable_bytes)?.min(self.file.len());
        (begin < end).then_some((begin, end))
    }

    /// The usable bytes of a page, up to the end of the file.
    #[inline]
    pub fn page(self, page: u32) -> Option<&'a [u8]> {
        let (begin, end) = self.range(page)?;
        self.file.get(begin..end)
    }
}

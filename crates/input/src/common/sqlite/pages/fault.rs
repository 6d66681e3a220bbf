//! Faults of pages.

use thiserror::Error;

/// Why a page, or the rest of it, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The file ends before.
    #[error("is beyond the end of the file")]
    BehindEnd,
    /// It is not a table page's b-tree, or not of the expected level.
    #[error("is not a table page")]
    NotOfTable,
    /// It was already read at another place.
    #[error("is referenced twice")]
    UsedTwice,
    /// There are more levels than a file can have.
    #[error("is nested too deep")]
    TooDeep,
    /// A cell does not lie in its page.
    #[error("has a cell outside its bounds")]
    CellOutside,
    /// Row ids do not rise, or do not fit between those of the neighbors.
    #[error("has row ids out of order")]
    OutOfOrder,
    /// A record contradicts itself.
    #[error("has a record that contradicts itself")]
    BadRecord,
    /// The pages that a long record continues on are not there.
    #[error("has a record that continues on pages of other records")]
    BrokenOverflow,
    /// Rows that cannot be of this table.
    #[error("has rows of another table")]
    OtherTable,
    /// A leaf without rows next to others, which SQLite removes.
    #[error("has no rows though others are next to it")]
    NoRows,
    /// A page of a table or an index that nothing leads to.
    #[error("belongs to no table")]
    Unowned,
}

/// A page that cannot be read, or only up to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnreadablePage {
    /// Number of the page, from 1.
    pub page: u32,
    /// Why.
    pub fault: Fault,
}

/// Why decoding of a page ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The rest of the page cannot be read.
    Fault(Fault),
    /// The page is fine, but what to make of a value only SQLite knows.
    OnlySqlite(&'static str),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

//! Faults of pages.

use thiserror::Error;

/// Reason why a page, or the rest of it, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The file ends before the page.
    #[error("is beyond the end of the file")]
    BehindEnd,
    /// It is not a page of a table b-tree, or not at the expected level.
    #[error("is not a table page")]
    NotOfTable,
    /// It was already read at another place.
    #[error("is referenced twice")]
    UsedTwice,
    /// There are more levels than a file can have.
    #[error("is nested too deep")]
    TooDeep,
    /// A cell is not within its page.
    #[error("has a cell outside its bounds")]
    CellOutside,
    /// Row ids do not rise, or do not fit between the row ids of the neighbors.
    #[error("has row ids out of order")]
    OutOfOrder,
    /// A record contradicts itself.
    #[error("has a record that contradicts itself")]
    BadRecord,
    /// Overflow pages of a long record are missing.
    #[error("has a record that continues on pages of other records")]
    BrokenOverflow,
    /// Rows that cannot belong to this table.
    #[error("has rows of another table")]
    OtherTable,
    /// A leaf without rows next to other leaves. SQLite removes such leaves.
    #[error("has no rows though others are next to it")]
    NoRows,
    /// A page of a table or an index without any reference to it.
    #[error("belongs to no table")]
    Unowned,
}

/// A page that cannot be read, or only up to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnreadablePage {
    /// Number of the page, from 1.
    pub page: u32,
    /// The reason.
    pub fault: Fault,
}

/// Reason why decoding of a page ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The rest of the page cannot be read.
    Fault(Fault),
    /// The page is intact, but only SQLite can interpret a value.
    OnlySqlite(&'static str),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

//! What is wrong with a page.

use thiserror::Error;

/// Why a page, or the rest of it, cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Fault {
    /// The file ends before.
    #[error("lies behind the end of the file")]
    BehindEnd,
    /// It is no page of a table's b-tree, or not of the expected level.
    #[error("is no page of a table")]
    NotOfTable,
    /// It was already read at another place.
    #[error("belongs to two places")]
    UsedTwice,
    /// There are more levels than a file can have.
    #[error("lies too deep")]
    TooDeep,
    /// A cell does not lie in its page.
    #[error("has a cell that lies outside of it")]
    CellOutside,
    /// Row ids do not rise, or do not fit between those of the neighbours.
    #[error("has row ids out of order")]
    OutOfOrder,
    /// A record contradicts itself.
    #[error("has a record that contradicts itself")]
    BadRecord,
    /// The pages that a long record continues on are not there.
    #[error("has a record that continues on pages that are not its own")]
    BrokenOverflow,
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
pub(crate) enum Stop {
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

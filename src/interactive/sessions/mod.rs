//! Sessions: what a loop keeps between its runs, and where.

mod clock;
mod error;
mod list;
mod lock;
mod names;
mod others;
mod place;
mod read;
mod session;
mod store;

#[cfg(test)]
mod tests;

pub(crate) use clock::{instant, utc_fraction};
pub(crate) use error::SessionError;
pub(crate) use list::{Listed, Owner};
pub(crate) use lock::SessionLock;
pub(crate) use session::{EntryKind, HistoryEntry, Kind, MenuItem, Session};
pub(crate) use store::Store;

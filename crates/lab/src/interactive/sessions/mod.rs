//! Sessions: their content and their files.

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

pub use clock::instant;
pub(crate) use clock::utc_fraction;
pub use error::SessionError;
pub use list::{Listed, Owner};
pub use lock::SessionLock;
pub use session::{EntryKind, HistoryEntry, MenuItem, Session, SessionKind};
pub use store::Store;

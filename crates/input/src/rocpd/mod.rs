//! rocpd databases: SQLite files with one set of tables per capture. Only base tables are read, never views, and columns are
//! detected, so that the dialects of schema 3 and the drafts of schema 4 differ in few places.

mod assembly;
mod container;
mod counter_facts;
mod database;
mod dialect;
mod event_numbers;
mod events;
mod format;
mod info_rows;
mod lookups;
mod owners;
mod probe;
mod process;
mod source;
mod symbols;
mod tables;
mod tracks;

pub use container::Partition;
pub use dialect::is_track_based;
pub(crate) use events::EventCache;
pub use format::Rocpd;
pub(crate) use probe::Probe;
pub use probe::probe;
pub use process::RANK_TAG;

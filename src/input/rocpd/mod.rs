//! rocpd databases: SQLite files with one set of tables per capture. Only base tables are read, never views, and columns are
//! detected, so that the dialects of schema 3 and the drafts of schema 4 differ in few places.

mod args;
mod assembly;
mod container;
mod counter_facts;
mod counters;
mod database;
mod dialect;
mod dispatches;
mod event_columns;
mod events;
mod format;
mod hint;
mod info;
mod info_rows;
mod launches;
mod lookups;
mod marks;
mod pc_samples;
mod probe;
mod process;
mod regions;
mod samples;
mod source;
mod symbols;
mod tracks;
mod transfers;

pub use events::EventCache;
pub use format::Rocpd;

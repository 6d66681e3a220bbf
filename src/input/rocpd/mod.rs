//! rocpd databases, schema 3: SQLite files with one set of tables per capture. Only base tables are read, never views.

mod assembly;
mod container;
mod counters;
mod database;
mod dispatches;
mod hint;
mod info;
mod lookups;
mod process;
mod regions;
mod source;
mod symbols;
mod transfers;

pub use source::find;

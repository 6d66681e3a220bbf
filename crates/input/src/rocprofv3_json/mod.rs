//! rocprofv3 JSON: one file with any number of processes, plain or compressed. The file is scanned once to find its sections. A table is
//! then read from the sections it needs, never from a document in memory.

mod file;
mod parsing;
mod parts;
pub mod properties;
mod structure;
mod template;

pub(crate) use structure::scanner::ROOT_KEY;

mod capture;
mod census;
mod driver_events;
mod format;
mod integers;
mod kinds;
mod layout;
mod layouts;
mod process;
mod reading;
mod source;
mod symbols;
mod tables;

pub(crate) use format::RocprofJson;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rocprofv3-json";

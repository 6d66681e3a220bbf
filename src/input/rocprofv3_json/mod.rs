//! rocprofv3 JSON: one file with any number of processes, plain or compressed. The file is scanned once for where its
//! sections lie; a table is then read from the sections it needs, never from a document in memory.

mod args;
mod bare_words;
mod brackets;
mod calls;
mod capture;
mod census;
mod counters;
mod dispatches;
mod file;
mod gathered;
mod index;
mod info;
mod integers;
mod kinds;
mod leap;
mod loose;
mod parts;
mod pc_samples;
mod process;
mod reading;
mod records;
mod roles;
mod scanner;
mod source;
mod surrogates;
mod sweep;
mod symbols;
mod template;
mod transfers;
mod values;

pub use file::{GZIP_MAGIC, Spool, decompressed_head};
pub use scanner::ROOT_KEY;
pub use source::find;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rocprofv3-json";

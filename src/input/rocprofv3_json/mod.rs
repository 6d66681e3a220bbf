//! rocprofv3 JSON: one file with any number of processes, plain or compressed. The file is scanned once for where its
//! sections lie; a table is then read from the sections it needs, never from a document in memory.

#[cfg(feature = "tables")]
mod args;
mod bare_words;
mod brackets;
mod call_with_args;
#[cfg(feature = "tables")]
mod calls;
#[cfg(feature = "tables")]
mod capture;
#[cfg(feature = "tables")]
mod census;
#[cfg(feature = "tables")]
mod counters;
#[cfg(feature = "tables")]
mod dispatches;
mod file;
#[cfg(feature = "tables")]
mod format;
mod gathered;
mod index;
mod inflate;
#[cfg(feature = "tables")]
mod info;
#[cfg(feature = "tables")]
mod integers;
#[cfg(feature = "tables")]
mod kinds;
mod lenient;
mod parts;
#[cfg(feature = "tables")]
mod pc_samples;
#[cfg(feature = "tables")]
mod process;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
#[cfg(feature = "tables")]
mod reading;
mod records;
mod roles;
mod scanner;
#[cfg(feature = "tables")]
mod source;
mod structural_scan;
mod surrogates;
mod sweep;
#[cfg(feature = "tables")]
mod symbols;
mod template;
#[cfg(feature = "tables")]
mod transfers;
mod values;

pub use file::{GZIP_MAGIC, Spool, decompressed_head};
#[cfg(feature = "tables")]
pub use format::RocprofJson;
pub use scanner::ROOT_KEY;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rocprofv3-json";

//! rocprofv3 JSON: one file with any number of processes, plain or compressed. The file is scanned once for where its
//! sections lie; a table is then read from the sections it needs, never from a document in memory.

#[cfg(feature = "tables")]
mod capture;
#[cfg(feature = "tables")]
mod census;
mod file;
#[cfg(feature = "tables")]
mod format;
mod inflate;
#[cfg(feature = "tables")]
mod integers;
#[cfg(feature = "tables")]
mod kinds;
mod parsing;
mod parts;
#[cfg(feature = "tables")]
mod process;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
#[cfg(feature = "tables")]
mod reading;
#[cfg(feature = "tables")]
mod source;
mod structure;
#[cfg(feature = "tables")]
mod symbols;
#[cfg(feature = "tables")]
mod tables;
mod template;

pub use file::{GZIP_MAGIC, Spool, decompressed_head};
#[cfg(feature = "tables")]
pub use format::RocprofJson;
pub use structure::scanner::ROOT_KEY;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rocprofv3-json";

//! rocprofv3 CSV: one file per kind of record, as rocprofv3 and `rocpd convert` write them, plain or compressed. Files
//! of the same directory and prefix are one capture. Every file is surveyed once for what it names; a table is then read
//! from the files it needs, row by row.

mod agents;
#[cfg(feature = "tables")]
mod calls;
#[cfg(feature = "tables")]
mod capture;
mod census;
mod columns;
#[cfg(feature = "tables")]
mod counters;
#[cfg(feature = "tables")]
mod dispatches;
#[cfg(feature = "tables")]
mod fields;
#[cfg(feature = "tables")]
mod format;
mod group;
mod header;
#[cfg(feature = "tables")]
mod info;
mod kinds;
mod owners;
#[cfg(feature = "tables")]
mod pc_samples;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
#[cfg(feature = "tables")]
mod reading;
mod rows;
#[cfg(feature = "tables")]
mod source;
#[cfg(feature = "tables")]
mod symbols;
#[cfg(feature = "tables")]
mod transfers;
mod values;
#[cfg(feature = "tables")]
mod words;

#[cfg(feature = "tables")]
pub use format::RocprofCsv;
pub use group::{Group, is_named_like_capture, is_same_run};
pub use kinds::{HeadKind, head_of};

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rocprofv3-csv";

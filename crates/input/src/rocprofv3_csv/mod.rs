//! rocprofv3 CSV: one file per kind of record, as rocprofv3 and `rocpd convert` write them, plain or compressed. Files of the same
//! directory and prefix are one capture. Every file is surveyed once for its ids and names. A table is then read from the files it needs,
//! row by row.

mod agents;
mod census;
mod columns;
mod group;
mod header;
mod kinds;
mod owners;
pub mod properties;
mod rows;
mod values;

pub(crate) use group::is_named_like_capture;
pub use group::{Group, is_same_run};
pub(crate) use kinds::{HeadKind, head_of};

mod calls;
mod capture;
mod counters;
mod dispatches;
mod fields;
mod format;
mod info;
mod pc_samples;
mod reading;
mod source;
mod symbols;
mod transfers;

pub(crate) use format::RocprofCsv;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rocprofv3-csv";

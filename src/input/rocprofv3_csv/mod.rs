//! rocprofv3 CSV: one file per kind of record, as rocprofv3 and `rocpd convert` write them, plain or compressed. Files
//! of the same directory and prefix are one capture. Every file is surveyed once for what it names; a table is then read
//! from the files it needs, row by row.

mod agents;
mod calls;
mod capture;
mod census;
mod columns;
mod counters;
mod dispatches;
mod fields;
mod file;
mod group;
mod header;
mod info;
mod kinds;
mod owners;
mod pc_samples;
mod reading;
mod rows;
mod source;
mod symbols;
mod transfers;
mod values;
mod words;

pub use group::{CsvFile, Group, grouped, is_named_like_capture, is_same_run};
pub use kinds::{HeadOf, head_of};
pub use source::find;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rocprofv3-csv";

//! Workload folders of rocprofiler-compute: counters of dispatches in `pmc_perf.csv`, or in files of single passes, and device specs in
//! `sysinfo.csv`. There are two layouts: wide with a column for each counter, and long with a row for each value. Since version 3.9, a
//! folder has a database for each pass instead, or the three files that the native tool writes for each process; their rows are read in the
//! long layout. Files are surveyed once for dispatches and passes; counters are read when they are requested.

mod columns;
mod counter_file;
mod header;
mod native;
mod passes;
pub mod properties;
mod rows;
mod survey;
mod system;
mod workload;

pub(crate) use header::{HeadKind, head_of};

mod counters;
mod dispatches;
mod format;
mod notes;
mod pass_database;
mod regions;
mod source;

pub(crate) use format::ComputeCounters;
pub use pass_database::is_pass;
pub(crate) use system::System;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rocprofiler-compute";

/// Name of the counter files in messages.
const PART: &str = "counters";

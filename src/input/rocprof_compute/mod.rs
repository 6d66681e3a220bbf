//! Workload folders of rocprofiler-compute: counters of dispatches in `pmc_perf.csv`, or in files of single passes, and
//! what the GPU has in `sysinfo.csv`. Two layouts: wide with a column for each counter, and long with a row for each
//! value. Files are surveyed once for dispatches and passes; counters are read when they are requested.

mod columns;
#[cfg(feature = "tables")]
mod counters;
#[cfg(feature = "tables")]
mod dispatches;
#[cfg(feature = "tables")]
mod format;
mod header;
mod passes;
#[cfg(any(test, feature = "properties"))]
pub mod properties;
mod rows;
#[cfg(feature = "tables")]
mod source;
mod survey;
mod system;
mod workload;

#[cfg(feature = "tables")]
pub use format::ComputeCounters;
pub use header::{HeadKind, head_of};

/// Name of the format in the `processes` table.
pub const FORMAT: &str = "rocprofiler-compute";

/// How messages call the files of counters.
const PART: &str = "counters";

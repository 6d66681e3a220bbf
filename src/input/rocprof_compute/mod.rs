//! Workload folders of rocprofiler-compute: counters of dispatches in `pmc_perf.csv`, or in files of single passes, and
//! what the GPU has in `sysinfo.csv`. Two layouts: wide with a column for each counter, and long with a row for each
//! value. Files are surveyed once for dispatches and passes; counters are read when they are requested.

mod columns;
mod header;
mod passes;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
mod rows;
mod survey;
mod system;
mod workload;

pub(crate) use header::{HeadKind, head_of};

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod counters;
        mod dispatches;
        mod format;
        mod source;

        pub(crate) use format::ComputeCounters;
    }
}

/// Name of the format in the `processes` table.
pub(crate) const FORMAT: &str = "rocprofiler-compute";

/// How messages call the files of counters.
const PART: &str = "counters";

//! Analysis databases of rocprofiler-compute, schemas 1 to 3: `rocprof-compute analyze` writes workloads, kernels, dispatches and
//! the metrics, rooflines and PC sampling counts that it computed, but no counters. Each workload is a process. Numbers that
//! the file states for kernels and workloads are rows of `recorded_metrics`. Only base tables are read, never views, and by the
//! tables and columns that are there, whatever version the file states.

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod catalog;
        mod census;
        mod container;
        mod dispatches;
        mod format;
        mod metrics;
        mod notes;
        mod owner;
        mod pc_sampling;
        mod reading;
        mod recorded;
        mod rooflines;
        mod rooflines_of_kernels;
        mod sampled_lines;
        mod source;
        mod source_lines;
        mod tables;
        mod version;

        pub(crate) use format::ComputeDatabase;
        pub(crate) use source::is_same_run;
    }
}

/// Name of the format in the `processes` table.
pub(crate) const FORMAT: &str = crate::schema::facts::ANALYSIS_DATABASE;

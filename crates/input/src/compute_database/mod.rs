//! Analysis databases of rocprofiler-compute, schemas 1 to 3: `rocprof-compute analyze` writes workloads, kernels, dispatches and the
//! metrics, rooflines and PC sampling counts that it computed, but no counters. Each workload is a process. Numbers that the file states
//! for kernels and workloads are rows of `recorded_metrics`. Only base tables are read, never views. Reading depends on the tables and
//! columns that are present, not on the version that the file states.

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
pub use source::is_same_run;

/// Name of the format in the `processes` table.
pub const FORMAT: &str = wavesieve_model::schema::facts::ANALYSIS_DATABASE;

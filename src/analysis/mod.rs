//! The arithmetic of the field, free of polars and of files.

pub(crate) mod allocations;
pub(crate) mod api_classes;
pub(crate) mod bench_lines;
pub(crate) mod categories;
pub(crate) mod collectives;
pub(crate) mod counter_plan;
pub(crate) mod critical_path;
pub(crate) mod gpu_time;
pub(crate) mod hardware;
pub(crate) mod inference;
pub(crate) mod instructions;
pub(crate) mod intervals;
pub(crate) mod iterations;
pub(crate) mod kernel_names;
pub(crate) mod numbering;
pub(crate) mod queues;
pub(crate) mod ranges;
pub(crate) mod statistics;
pub(crate) mod steadiness;
pub(crate) mod upstream;

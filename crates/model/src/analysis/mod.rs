//! The arithmetic of the field, without polars and files.

pub mod allocations;
pub mod api_classes;
pub mod bench_lines;
pub mod categories;
pub mod collectives;
pub mod counter_plan;
pub mod critical_path;
pub mod gpu_time;
pub mod hardware;
pub mod inference;
pub mod instructions;
pub mod intervals;
pub mod iterations;
pub mod kernel_names;
pub mod migrating_durations;
pub mod numbering;
pub mod programs;
pub mod queues;
pub mod ranges;
pub mod statistics;
pub mod steadiness;
pub mod thresholds;
pub mod upstream;

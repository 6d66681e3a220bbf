//! Metrics and bottlenecks from hardware counters.

pub mod counted_dispatches;
pub mod joined_passes;
pub mod kernel_bottlenecks;
pub mod metric_evaluation;
pub mod metric_sums;

//! Metrics and bottlenecks from hardware counters.

pub(crate) mod compiled_formula;
pub(crate) mod counted_dispatches;
pub(crate) mod joined_passes;
pub mod kernel_bottlenecks;
pub(crate) mod metric_evaluation;
pub mod metric_sums;
pub(crate) mod pass_agreement;
pub(crate) mod plausible_values;
pub mod range_metric_sums;

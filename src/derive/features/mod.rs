//! Tables that are ready for statistics, without joins.

pub(crate) mod dispatch_features;
pub(crate) mod iteration_kernels;
pub(crate) mod process_features;
mod repetition_of;

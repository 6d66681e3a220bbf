//! Tables that are ready for statistics, without joins.

pub(crate) mod dispatch_features;
pub(crate) mod iteration_kernels;
mod repetition_of;

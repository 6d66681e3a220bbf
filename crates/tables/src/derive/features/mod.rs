//! Tables that are ready for statistics, without joins.

pub mod dispatch_features;
pub mod iteration_kernels;
pub mod process_features;
mod repetition_of;

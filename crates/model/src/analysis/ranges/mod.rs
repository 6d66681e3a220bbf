//! How calls and ranges of threads nest.

pub mod innermost;
pub mod markers;
pub mod names;
pub mod nesting;
pub mod overlaps;
pub mod paths;
pub mod profiler_pauses;
pub mod self_time;
pub mod tree;

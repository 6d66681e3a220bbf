//! How calls and ranges of threads nest.

pub(crate) mod innermost;
pub(crate) mod markers;
pub(crate) mod nesting;
pub(crate) mod overlaps;
pub(crate) mod paths;
pub(crate) mod profiler_pauses;
pub(crate) mod self_time;
pub(crate) mod tree;

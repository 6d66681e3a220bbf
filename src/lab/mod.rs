//! One kernel at a time: measured, tuned, changed and checked, captured and replayed.

pub(crate) mod autotune;
pub(crate) mod measuring;
pub(crate) mod profiling;

//! One kernel at a time: measured, tuned, changed and checked, captured and replayed.

pub(crate) mod autotune;
pub(crate) mod code;
pub(crate) mod measuring;
pub(crate) mod optimize;
pub(crate) mod profiling;
pub(crate) mod proposers;

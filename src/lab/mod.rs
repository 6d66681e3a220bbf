//! One kernel at a time: measured, tuned, changed and checked, captured and replayed.

pub(crate) mod autotune;
pub(crate) mod code;
pub(crate) mod measuring;
pub(crate) mod optimize;
pub(crate) mod profiling;
pub(crate) mod proposers;
pub mod captures;
#[cfg(feature = "cli")]
pub(crate) mod capturing;
#[cfg(feature = "cli")]
pub(crate) mod code;
pub mod hsa;
pub mod recording;
#[cfg(feature = "cli")]
pub(crate) mod replay;

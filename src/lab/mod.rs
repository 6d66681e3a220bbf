//! One kernel at a time: measured, tuned, changed and checked, captured and replayed.

#[cfg(feature = "cli")]
pub(crate) mod capturing;

pub mod captures;
pub mod hsa;
pub mod recording;

//! One kernel at a time: measured, tuned, changed and checked, captured and replayed.

pub mod captures;
pub mod hsa;

#[cfg(feature = "cli")]
pub(crate) mod replay;

//! One kernel at a time: measured, tuned, changed and checked, captured and replayed.

pub mod captures;
#[cfg(feature = "cli")]
pub(crate) mod capturing;
#[cfg(feature = "cli")]
pub(crate) mod code;
pub mod hsa;
pub mod recording;
#[cfg(feature = "cli")]
pub(crate) mod replay;

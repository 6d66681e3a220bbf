//! One kernel at a time: measured, tuned, changed and checked, captured and replayed.

<<<<<<< .merge_file_84fczc
pub mod captures;
#[cfg(feature = "cli")]
pub(crate) mod capturing;
pub mod hsa;
pub mod recording;
#[cfg(feature = "cli")]
pub(crate) mod replay;
=======
pub(crate) mod code;
>>>>>>> .merge_file_NbvGPa

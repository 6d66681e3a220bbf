//! The logical trace: processes, ranks, clocks, selection and reading.

#[cfg(feature = "tables")]
pub mod alignment;
#[cfg(feature = "tables")]
pub mod clocks;
#[cfg(feature = "tables")]
mod derivation;
#[cfg(feature = "tables")]
pub mod identity;
#[cfg(feature = "tables")]
mod info_tables;
#[cfg(feature = "tables")]
pub mod jobs;
#[cfg(feature = "tables")]
mod joint_tables;
#[cfg(feature = "tables")]
pub mod left_out;
#[cfg(feature = "tables")]
pub mod logical;
#[cfg(feature = "tables")]
pub mod looks;
#[cfg(feature = "tables")]
pub mod observer;
#[cfg(feature = "tables")]
mod path_ranks;
#[cfg(feature = "tables")]
mod process_frames;
#[cfg(feature = "tables")]
mod progress;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
#[cfg(feature = "tables")]
mod ready_tables;
#[cfg(feature = "tables")]
mod seen_frames;
pub mod selection;
#[cfg(feature = "tables")]
pub mod source;
#[cfg(feature = "tables")]
mod source_rows;
#[cfg(feature = "tables")]
pub mod summed_frames;
#[cfg(feature = "tables")]
pub mod views;
#[cfg(feature = "tables")]
mod whole_tables;

#[cfg(feature = "tables")]
pub use logical::{Member, Trace};

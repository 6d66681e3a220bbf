//! The logical trace: processes, ranks, clocks, selection and reading.

#[cfg(feature = "tables")]
pub mod alignment;
#[cfg(feature = "tables")]
pub mod clocks;
#[cfg(feature = "tables")]
pub mod consumer;
#[cfg(feature = "tables")]
mod consumer_frames;
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
pub mod lazy_trace;
#[cfg(feature = "tables")]
pub mod left_out;
#[cfg(feature = "tables")]
pub mod observer;
#[cfg(feature = "tables")]
mod path_ranks;
#[cfg(feature = "tables")]
mod process_frames;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
#[cfg(feature = "tables")]
mod ready_tables;
pub mod selection;
#[cfg(feature = "tables")]
pub mod source;
#[cfg(feature = "tables")]
mod source_rows;
#[cfg(feature = "tables")]
pub mod summed_frames;
#[cfg(feature = "tables")]
mod table_scheduler;
#[cfg(feature = "tables")]
mod unfiltered_tables;
#[cfg(feature = "tables")]
pub mod views;

#[cfg(feature = "tables")]
pub use lazy_trace::{Trace, TraceProcess};

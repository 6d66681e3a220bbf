//! The logical trace: processes, ranks, clocks, filters and reading.

pub mod properties;
pub mod selection;

pub mod alignment;
pub mod clocks;
pub mod consumer;
mod consumer_frames;
mod derivation;
pub mod identities;
mod info_tables;
pub mod jobs;
mod joint_tables;
pub(crate) mod lazy_trace;
pub mod left_out;
mod missing_unit;
pub mod observer;
mod process_frames;
mod ready_tables;
mod row_pieces;
pub mod runner;
pub mod source;
mod source_rows;
pub mod summed_frames;
mod table_scheduler;
mod unfiltered_tables;
pub mod views;

pub use lazy_trace::{Trace, TraceProcess};
pub use missing_unit::MissingUnit;

//! The canonical tables: one module for each, or one for tables from the same records.

pub mod args;
pub mod calls;
pub mod counters;
pub mod dispatches;
pub mod info;
pub mod pc_samples;
pub mod transfers;

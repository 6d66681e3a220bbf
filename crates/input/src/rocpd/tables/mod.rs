//! The canonical tables: a file for each table, or for tables that come from the same rows.

pub mod args;
pub mod counters;
pub mod details;
pub mod dispatches;
pub(crate) mod event_columns;
pub mod info;
pub mod launches;
pub mod marker_names;
pub mod marks;
pub mod pc_samples;
pub mod regions;
pub mod samples;
pub mod transfers;

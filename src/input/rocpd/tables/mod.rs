//! The canonical tables, a file each, or one for tables from the same rows.

pub mod args;
pub mod counters;
pub mod dispatches;
pub mod event_columns;
pub mod hint;
pub mod info;
pub mod launches;
pub mod marks;
pub mod pc_samples;
pub mod regions;
pub mod samples;
pub mod transfers;

//! The canonical tables, a file each, or one for tables from the same rows.

pub(crate) mod args;
pub(crate) mod counters;
pub(crate) mod details;
pub(crate) mod dispatches;
pub(crate) mod event_columns;
pub(crate) mod hint;
pub(crate) mod info;
pub(crate) mod launches;
pub(crate) mod marker_names;
pub(crate) mod marks;
pub(crate) mod pc_samples;
pub(crate) mod regions;
pub(crate) mod samples;
pub(crate) mod transfers;

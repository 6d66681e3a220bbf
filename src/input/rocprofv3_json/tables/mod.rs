//! The canonical tables, a file each, or one for tables from the same records.

pub(crate) mod args;
pub(crate) mod calls;
pub(crate) mod counters;
pub(crate) mod dispatches;
pub(crate) mod info;
pub(crate) mod pc_samples;
pub(crate) mod transfers;

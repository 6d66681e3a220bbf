//! Canonical columns as polars series: building, reading and asking for them.

pub(crate) mod arrow_bridge;
pub(crate) mod frames;
pub(crate) mod reading;
pub(crate) mod requests;
pub(crate) mod values;

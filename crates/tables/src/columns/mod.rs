//! Canonical columns as polars series: building, reading and requesting them.

pub mod arrow_bridge;
pub mod frames;
pub mod reading;
pub mod requests;
pub mod values;

//! When GPUs ran no kernel, and what the host was doing.

pub(crate) mod gap_columns;
pub(crate) mod gap_sweep;
pub(crate) mod host_intervals;
pub(crate) mod host_threads;
pub mod idle_gaps;

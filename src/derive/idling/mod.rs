//! When GPUs ran no kernel, and what the host was doing.

pub mod gap_columns;
pub mod gap_sweep;
pub mod host_intervals;
pub mod host_threads;
pub mod idle_gaps;

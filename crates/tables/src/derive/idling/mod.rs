//! When GPUs ran no kernel, and what the host was doing.

pub(crate) mod call_columns;
pub(crate) mod gap_columns;
pub(crate) mod gap_sweep;
pub(crate) mod host_intervals;
pub(crate) mod host_pieces;
pub(crate) mod host_threads;
pub(crate) mod idle_calls;
pub mod idle_gaps;

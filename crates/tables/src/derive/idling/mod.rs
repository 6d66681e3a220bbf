//! Times without kernels on GPUs, and host activity during them.

pub(crate) mod call_columns;
pub(crate) mod gap_columns;
pub(crate) mod gap_sweep;
pub(crate) mod host_intervals;
pub(crate) mod host_pieces;
pub(crate) mod host_threads;
pub(crate) mod idle_calls;
pub mod idle_gaps;

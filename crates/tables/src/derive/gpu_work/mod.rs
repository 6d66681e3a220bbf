//! Work that ran on each GPU over time, and its sums.

pub(crate) mod gpu_activities;
pub mod gpu_segments;
pub(crate) mod gpu_time_sweep;
pub mod gpu_times;
pub mod kernel_clocks;
pub mod kernel_overlaps;

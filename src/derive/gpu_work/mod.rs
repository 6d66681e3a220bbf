//! Work that ran on each GPU over time, and its sums.

pub(crate) mod gpu_activities;
pub(crate) mod gpu_segments;
pub(crate) mod gpu_time_sweep;
pub(crate) mod gpu_times;
pub(crate) mod kernel_clocks;
pub(crate) mod kernel_overlaps;

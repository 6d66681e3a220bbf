//! What ran on each GPU when, and its sums.

pub mod gpu_activities;
pub mod gpu_segments;
pub mod gpu_time_sweep;
pub mod gpu_times;
pub mod kernel_clocks;
pub mod kernel_overlaps;

//! GPUs and their limits: figures, occupancy, metrics over counters.

pub mod counter_faults;
pub mod devices;
pub mod implausible;
pub mod metrics;
pub mod occupancy;

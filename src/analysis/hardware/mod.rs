//! GPUs and their limits: figures, occupancy, metrics over counters.

pub mod devices;
pub mod metrics;
pub mod occupancy;

//! GPUs and their limits: figures, occupancy, metrics over counters.

pub(crate) mod counter_faults;
pub(crate) mod devices;
pub(crate) mod implausible;
pub(crate) mod metrics;
pub(crate) mod occupancy;

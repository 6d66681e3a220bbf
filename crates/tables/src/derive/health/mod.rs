//! Trace health: counts of anomalies in the tables of a process.

pub mod anomalies;
mod checks;
mod clock;
mod correlation;
mod counter_faults;
mod counter_gaps;
mod dead_counters;
mod gl2c_instances;
mod lost_kernels;
mod migrating_durations;
mod named_by_marks;
mod not_recorded;
mod times;

pub use crate::derive::health::anomalies::ANOMALIES;
pub use crate::derive::health::checks::{Checks, DAMAGED_INPUT, needs};
pub(crate) use crate::derive::health::checks::{anomaly_of, with_later};
pub use crate::derive::health::dead_counters::DEAD_COUNTERS;
pub use crate::derive::health::not_recorded::is_kind;
pub use crate::derive::health::not_recorded::{Missing, Others, Recorder, missing};

//! Activity of GPUs over time, and reasons why they were idle.

pub mod category_overlaps;
pub mod idle_causes;
pub mod idle_intervals;
pub mod idle_kinds;
pub mod segments;
pub mod telemetry;

//! Activity of GPUs over time, and reasons why they were idle.

pub(crate) mod category_overlaps;
pub(crate) mod idle_causes;
pub(crate) mod idle_intervals;
pub(crate) mod segments;
pub(crate) mod telemetry;

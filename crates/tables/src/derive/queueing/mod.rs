//! How many dispatches wait and run in each queue.

pub mod queue_depths;
pub(crate) mod queue_lanes;

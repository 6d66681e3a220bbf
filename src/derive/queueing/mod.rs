//! How many dispatches wait and run in each queue.

pub(crate) mod queue_depths;
pub(crate) mod queue_lanes;

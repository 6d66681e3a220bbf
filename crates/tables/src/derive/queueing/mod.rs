//! Numbers of waiting and running dispatches in each queue.

pub mod queue_depths;
pub(crate) mod queue_lanes;

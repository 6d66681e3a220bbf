//! Dispatches of the same work, compared.

pub mod dispatch_groups;
pub(crate) mod launch_shapes;
pub(crate) mod recorded_messages;
pub mod same_work;
pub mod slow_dispatches;

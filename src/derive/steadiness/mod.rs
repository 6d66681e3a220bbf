//! Dispatches of the same work, compared.

pub(crate) mod dispatch_groups;
pub(crate) mod launch_shapes;
pub(crate) mod same_work;
pub(crate) mod slow_dispatches;

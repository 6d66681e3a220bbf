//! The order of dispatches on queues, and how many wait.

pub(crate) mod depth;
pub(crate) mod followers;
pub(crate) mod order;

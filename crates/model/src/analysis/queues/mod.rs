//! The order of dispatches on queues, and how many wait.

pub mod depth;
pub mod followers;
pub mod order;

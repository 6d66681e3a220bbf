//! Dispatches and copies with the API calls that launched them.

pub mod dispatch_launches;
pub mod following_kernels;
pub mod graph_work;
pub(crate) mod kernel_order;
pub(crate) mod launched_work;
pub mod launches;
pub mod launching_calls;
pub(crate) mod lost_launches;

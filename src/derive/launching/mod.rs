//! Dispatches and copies with the API calls that launched them.

pub(crate) mod dispatch_launches;
pub(crate) mod following_kernels;
pub(crate) mod graph_work;
pub(crate) mod kernel_order;
pub(crate) mod launched_work;
pub(crate) mod launches;
pub(crate) mod launching_calls;
pub(crate) mod lost_launches;

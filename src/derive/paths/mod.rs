//! The critical path, slack and savings.

pub(crate) mod critical_path;
pub(crate) mod dispatch_slack;
pub(crate) mod kernel_savings;
pub(crate) mod path_graph;

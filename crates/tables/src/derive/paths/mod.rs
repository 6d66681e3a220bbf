//! The critical path, slack and savings.

pub mod critical_path;
pub mod dispatch_slack;
pub mod kernel_savings;
pub(crate) mod path_graph;

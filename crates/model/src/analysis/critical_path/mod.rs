//! The critical path of a process: kernels, copies and host calls as a graph, and the longest path through it.
//!
//! The recorded times are taken as true. Of all causes, the last one to end was binding; the time between the two is a
//! delay that belongs to that pair. So the path from the last event back to the first, always to the binding cause, is
//! as long as the elapsed time, and never longer.

mod causes;
mod drains;
mod graph;
mod order;
mod passes;
mod walk;

#[cfg(test)]
mod tests;

pub use crate::analysis::critical_path::graph::{Call, Graph, NONE, Waits, Work};
pub use crate::analysis::critical_path::passes::{end_without, slack};
pub use crate::analysis::critical_path::walk::{Edge, PathPart, Segment, longest_path};

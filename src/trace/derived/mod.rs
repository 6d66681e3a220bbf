//! Derived tables, built from the whole source tables of one process.

mod api_calls;
mod dispatch_launches;
mod gpu_segments;
mod graph_work;
mod launches;
mod launching_calls;
mod queue_depths;
mod region_self_times;
mod registry;

pub use registry::{Frames, Needs, derive, is_of_cut_calls, needs};
use registry::{column, needed};

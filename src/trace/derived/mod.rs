//! Derived tables, built from the whole source tables of one process.

mod allocation_lifetimes;
mod allocation_pairs;
mod dispatch_groups;
mod gpu_segments;
mod kernel_clocks;
mod launch_shapes;
mod memory_live;
mod region_self_times;
mod registry;
mod slow_dispatches;

pub use registry::{Frames, Needs, SELF_TIMES, derive, needs};
use registry::{column, needed};

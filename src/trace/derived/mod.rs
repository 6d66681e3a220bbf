//! Derived tables, built from the whole source tables of one process.

mod columns;
mod gap_columns;
mod gap_sweep;
mod gpu_segments;
mod host_threads;
mod idle_gaps;
mod kernel_overlaps;
mod launch_calls;
mod profiler_pauses;
mod region_self_times;
mod registry;

use columns::repeated;
pub use registry::{Frames, Needs, SELF_TIMES, derive, needs};
use registry::{column, needed};

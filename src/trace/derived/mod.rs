//! Derived tables, built from the whole source tables of one process.

mod gpu_segments;
mod iterations;
mod launched_work;
mod range_forest;
mod ranges;
mod region_self_times;
mod registry;

pub use registry::{Frames, Needs, SELF_TIMES, derive, needs};
use registry::{column, needed};

//! The time line of a run: sums over all of it, and parts in detail.

pub mod model;

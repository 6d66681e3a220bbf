//! Sums over the whole run, by GPU and bins of equal width.

mod build;
mod cached;
mod segments;

pub use build::{GpuSums, Stage, Sums, activity, with_causes};
pub use cached::Kept;

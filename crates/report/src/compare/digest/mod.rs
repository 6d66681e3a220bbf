//! The digest of a run: the data that a comparison keeps of it, taken from a trace or read from a file.

mod clocks;
mod copies;
mod counters;
mod file;
mod gpu_times;
mod kernel_calls;
mod kernels;
mod model;
mod paths;
mod steps;
mod sum;
mod take;
mod transfers;
mod units;

pub use file::{is_digest, read, write};
#[cfg(test)]
pub use model::StepDigest;
pub use model::{
    Calls, CounterDigest, Digest, GpuDigest, KernelDigest, PathDigest, RunFacts, Shape, ShapeKey, Times, has_inputs,
    without_inputs,
};
pub use take::{PathChoice, TakeOptions, take};

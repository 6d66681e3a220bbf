//! The digest of a run: what a comparison keeps of it, taken from a trace or read from a file.

mod file;
mod gpu_times;
mod kernel_calls;
mod model;
mod take;
mod transfers;

pub(crate) use file::{is_digest, read, write};
pub(crate) use model::{Calls, Digest, GpuDigest, KernelDigest, RunFacts, Shape, Times};
pub(crate) use take::take;

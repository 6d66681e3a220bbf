//! Profiles a program: measures the times of its kernels and their certainty, and finds the limits of the dominant
//! kernel.

mod bottlenecks;
mod collecting;
mod compat;
mod documents;
mod evidence;
mod headroom;
mod kernel;
mod page;
mod paths;
mod request;
mod roof;
mod summary;
mod trace_of_kernel;
mod write;

#[cfg(test)]
mod tests;

pub use collecting::{Listener, record};
pub use documents::{Parts, documents};
pub use evidence::Evidence;
pub use request::{Numbers, ProfileRequest, plan, thread_trace};
pub use summary::summary;
pub use write::{ProfilePlace, TRACES, place, write_all};

//! Profiles a program: how long its kernels take and how certain that is, and what limits the one that takes most.

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

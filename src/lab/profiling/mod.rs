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

pub(crate) use collecting::{Listener, record};
pub(crate) use documents::{Parts, documents};
pub(crate) use evidence::Evidence;
pub(crate) use request::{Numbers, ProfileRequest, pattern_of, plan, thread_trace};
pub(crate) use summary::summary;
pub(crate) use write::{Place, TRACES, place, write_all};

//! Files of a capture, the interface of the HSA runtime, and the protocol of a recording: a captured program and the program that replays
//! it share them.
//!
//! The library that programs load depends on this crate; so it does not depend on polars or traces.

#![forbid(unsafe_code)]

pub mod captures;
pub mod hsa;
pub mod recording;

//! GPU source code before there is a trace: scans folders, finds kernels, reads code objects.
//!
//! This crate depends neither on trace tables nor on polars.

#![forbid(unsafe_code)]

/// The text of a file at the root of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

#[cfg(test)]
#[path = "../../../tests/cli/skipping.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod skipping;

pub mod kernels;
mod lines;
pub mod objects;
pub mod scan;

pub use lines::SourceTree;

//! Documents as rocinsight writes them, schema 0.1.0 to 0.4.0.

mod document;
mod measures;
mod names;
mod recommendations;
mod source;
mod thread_trace;
mod version;

pub(crate) use document::value;
pub(crate) use measures::questions;
pub(crate) use version::SchemaVersion;

#[cfg(test)]
mod tests;

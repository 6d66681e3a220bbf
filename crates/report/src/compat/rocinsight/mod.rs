//! Documents in the format of rocinsight, schema 0.1.0 to 0.4.0.

mod document;
mod measures;
mod names;
mod recommendations;
mod source;
mod thread_trace;
mod version;

pub use document::value;
pub use measures::questions;
pub use version::SchemaVersion;

#[cfg(test)]
mod tests;

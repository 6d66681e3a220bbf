//! Source code that traces refer to.

mod lines;

pub use lines::SourceTree;

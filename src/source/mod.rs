//! Source code: lines that traces refer to, and what a program does on the GPU before there is a trace.

mod lines;
pub(crate) mod scan;

pub(crate) use lines::SourceTree;

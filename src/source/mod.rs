//! Source code and what compilers make of it: lines that traces refer to, what a program does on the GPU before there
//! is a trace, where kernels stand, and what code objects state about them.

pub(crate) mod kernels;
mod lines;
pub(crate) mod objects;
pub(crate) mod scan;

pub(crate) use lines::SourceTree;

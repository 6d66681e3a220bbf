//! Archives in the Open Trace Format 2, which Vampir, the tools of Score-P and Pipit read.

mod archive;
mod chunks;
mod definitions;
mod records;

pub use archive::Archive;

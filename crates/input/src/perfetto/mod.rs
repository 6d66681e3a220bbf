//! Perfetto traces of ROCm, written by rocprofv3, rocpd, rocprofiler-systems or wavesieve. One pass over the packets turns events into
//! rows: columns of integers, and texts that are kept once.

mod arguments;
mod clocks;
mod document;
mod event;
mod gpus;
mod kinds;
mod names;
mod packets;
mod processes;
pub mod properties;
mod reader;
mod recognition;
mod rows;
mod scheduler;
mod sequence;
mod slices;
mod thread_states;
mod tracks;
mod wire;

pub(crate) use recognition::{has_packets, is_perfetto};

mod facts;
mod notes;
mod source;
mod tables;

pub use facts::is_same_run;
pub(crate) use notes::OtherProgram;
pub use source::open;

pub const FORMAT: &str = "perfetto";

//! Perfetto traces of ROCm: those of rocprofv3 and rocpd, of rocprofiler-systems, and of this program. One pass over the packets makes
//! rows of the events, in columns of integers and texts that are kept once.

mod arguments;
mod clocks;
mod document;
mod event;
mod gpus;
mod kinds;
mod names;
mod packets;
mod processes;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
mod reader;
mod recognition;
mod rows;
mod sequence;
mod slices;
mod tracks;
mod wire;

pub(crate) use recognition::{has_packets, is_perfetto};

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod facts;
        mod format;
        mod notes;
        mod source;
        mod tables;

        pub(crate) use facts::is_same_run;
        pub(crate) use format::Perfetto;
        pub(crate) use notes::OtherProgram;
    }
}

/// Name of the format in the `processes` table.
pub(crate) const FORMAT: &str = "perfetto";

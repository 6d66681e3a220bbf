//! Traces for Perfetto (`.pftrace`): TrackEvent packets, described in perfetto's docs/reference/synthetic-track-event.md.

mod counters;
mod flows;
mod lanes;
mod process;
mod stream;
mod texts;
mod wire;
mod write;

pub(crate) use write::{Arguments, Summary, write};

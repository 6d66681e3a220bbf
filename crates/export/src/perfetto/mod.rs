//! Traces for Perfetto (`.pftrace`): TrackEvent packets, described in perfetto's docs/reference/synthetic-track-event.md.

mod gpus;
mod interned;
mod scheduler;
mod stream;
mod wire;

pub use stream::Stream;

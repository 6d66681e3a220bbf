//! The time line of a trace: tracks of slices, instants and values, in the order in which the formats of viewers want them.

mod counters;
mod derived;
mod flows;
mod gpu_work;
mod gpus;
mod lanes;
mod process;
mod repeated;
mod rows;
mod runs;
mod sink;
mod states;
mod texts;
mod threads;
mod write;

pub use process::{FindingText, Findings};
pub use sink::{Counts, Event, ProcessFacts, Sink, TrackContent, TrackFacts, Value, WorkKind};
pub use states::{HostState, ThreadState};
pub use texts::Texts;
pub use write::{Arguments, By, Options, Summary, Tracks, content_id, members, write, write_members};

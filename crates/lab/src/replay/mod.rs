//! Replays captured dispatches. A separate process loads the HSA runtime on demand, so that faults of the runtime or a
//! kernel end only that process.

mod addresses;
pub mod compare;
mod inspection;
mod kernel;
mod outcome;
mod request;
mod runtime;
mod saving;
mod statistics;
mod supervise;
mod target;
mod text;
mod worker;

pub use inspection::{Inspection, inspect, text_of_inspection};
pub use outcome::{Outcome, Status};
pub use request::{Mode, Request};
pub use supervise::{Supervision, answer_path, replay};
pub use text::text;
pub use worker::work;

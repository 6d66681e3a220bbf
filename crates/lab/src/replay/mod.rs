//! Running captured dispatches again. The HSA runtime is loaded when it is needed, in a process of its own: what it or a kernel
//! does wrong ends that process alone.

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

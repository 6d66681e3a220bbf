//! Running captured dispatches again. The HSA runtime is loaded when it is needed, in a process of its own: what it or a kernel
//! does wrong ends that process alone.

mod addresses;
pub(crate) mod compare;
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

#[cfg(test)]
mod tests;

pub(crate) use inspection::{Inspection, inspect, text_of_inspection};
pub(crate) use outcome::{Outcome, Status};
pub(crate) use request::{Mode, Request};
pub(crate) use supervise::{Supervision, answer_path, replay};
pub(crate) use text::text;
pub(crate) use worker::work;

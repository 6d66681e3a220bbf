//! Traces of the PyTorch profiler (Kineto): a Chrome trace, plain or compressed, usually a file for each rank. One pass finds the place and
//! kind of every event. A table is then read from the events that it needs.

mod brackets;
mod cursor;
mod decimal;
mod document;
mod event;
mod kinds;
pub mod properties;
mod recognition;
mod scan;

pub(crate) use recognition::other_program;
pub use recognition::{MAX_BYTES, Verdict, recognize};

mod capture;
mod facts;
mod gathered;
mod memory_devices;
mod overruns;
mod source;
mod tables;
mod ties;

pub use source::open;

pub const FORMAT: &str = wavesieve_model::schema::facts::KINETO;

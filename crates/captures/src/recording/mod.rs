//! The protocol between wavesieve and the library that records for it: variables that request captures, and lines that report the results.

mod events;
mod indices;

pub use events::{EVENTS, Event, Line};
pub use indices::Indices;

/// Prefix of the variables of the library.
pub const VARIABLE_PREFIX: &str = "WAVESIEVE_CAPTURE_";

//! The agreement between the program and the library that records for it: the variables that ask for captures, and the lines that
//! report what became of them.

mod events;
mod indices;

pub use events::{EVENTS, Event, Line};
pub use indices::Indices;

/// Variables of the library begin with this.
pub const VARIABLE_PREFIX: &str = "WAVESIEVE_CAPTURE_";

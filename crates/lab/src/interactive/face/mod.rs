//! The user interface of a session: a terminal, a pipe or a file with answers, and events for programs.

mod answers;
mod console;
mod diff;
mod error;
mod events;
mod interruptions;
mod lines;
mod plain;
mod prompt;
mod question;
mod screen;
mod spinner;
mod table;
mod wrap;

#[cfg(test)]
mod tests;

pub use console::{Console, ConsoleOptions};
pub use error::FaceError;
pub use interruptions::{Interruptions, Taken, take_interruption};
pub use plain::plain;
pub use question::{Choice, Level, Question, Reply};

//! Redacts private data in requests, and restores it in answers.

mod map;
mod nested;
mod pass;
mod rules;
mod statement;
#[cfg(test)]
mod tests;

pub use map::{KnownName, TokenMap};
pub use pass::{Redactor, Remembered};
pub use rules::Rules;
pub(crate) use statement::{pattern_with, statement_with};

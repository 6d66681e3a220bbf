//! Takes out of requests what must not leave, and puts it back into answers.

mod map;
mod nested;
mod pass;
mod rules;
mod statement;
#[cfg(test)]
mod tests;

pub(crate) use map::{KnownName, TokenMap};
pub(crate) use pass::{Redactor, Remembered};
pub(crate) use rules::Rules;
pub(crate) use statement::{pattern_with, statement_with};

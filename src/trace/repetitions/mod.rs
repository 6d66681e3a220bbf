//! The period of a sequence: where it repeats itself, in spite of noise, and where each repetition begins and ends.

mod alike;
mod anchors;
mod boundaries;
mod detect;
mod even_part;
mod occurrences;
mod phases;
mod recurring;
#[cfg(test)]
mod tests;

pub use detect::{Repetitions, repetitions};
pub use even_part::even_part;
pub use phases::{Phase, phases};

//! The period of a sequence: where it repeats itself, in spite of noise, and where each repetition starts and ends.

mod alike;
mod anchors;
mod boundaries;
pub(crate) mod dense_part;
mod detect;
mod even_part;
mod occurrences;
mod phases;
mod recurring;
#[cfg(test)]
mod tests;

pub(crate) use crate::analysis::iterations::detect::{Repetitions, repetitions};
pub(crate) use crate::analysis::iterations::even_part::even_part;
pub(crate) use crate::analysis::iterations::phases::{Phase, phases};

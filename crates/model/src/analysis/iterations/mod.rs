//! The period of a sequence: detects repetition in spite of noise, and the start and end of each repetition.

mod alike;
mod anchors;
mod boundaries;
pub mod dense_part;
mod detect;
mod even_part;
mod layers;
mod levels;
mod occurrences;
mod phases;
mod recurring;
#[cfg(test)]
mod tests;

pub use crate::analysis::iterations::detect::{Repetitions, repetitions};
pub use crate::analysis::iterations::even_part::even_part;
pub use crate::analysis::iterations::layers::{Layer, layers_of, layers_within};
pub use crate::analysis::iterations::levels::LevelThresholds;
pub use crate::analysis::iterations::phases::{Phase, phases, phases_without_prompts};

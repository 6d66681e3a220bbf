//! A picture in a document.

use super::model::Picture;
use wavesieve_model::analysis::counter_plan::quoted;

/// A picture with the words that name its inputs in commands.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The picture.
    pub picture: Picture,
    /// Words of a run, or of both sides of a comparison.
    pub inputs: TimelineInputs,
}

/// Words that name inputs in commands, as a shell takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelineInputs {
    /// A run.
    Run(String),
    /// The sides of a comparison.
    Sides {
        /// The base.
        base: String,
        /// The new side.
        new: String,
    },
}

impl TimelineInputs {
    /// Words of a run.
    pub fn run(words: &[String]) -> Self {
        Self::Run(joined(words))
    }

    /// Words of both sides.
    pub fn sides(base: &[String], new: &[String]) -> Self {
        Self::Sides { base: joined(base), new: joined(new) }
    }
}

fn joined(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
}

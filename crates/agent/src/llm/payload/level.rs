//! How much is sent.

use serde::{Deserialize, Serialize};

/// How much is sent. Each level has all of those before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Share {
    /// Numbers and the words of this program: no names, paths, machines or people.
    #[default]
    Figures,
    /// Names of kernels, ranges and API calls, and sentences with them.
    Names,
    /// Source code, and where in it something is.
    Source,
}

impl Share {
    /// The word of the option.
    pub fn word(self) -> &'static str {
        match self {
            Self::Figures => "figures",
            Self::Names => "names",
            Self::Source => "source",
        }
    }

    /// The level of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Figures, Self::Names, Self::Source].into_iter().find(|level| level.word() == word)
    }
}

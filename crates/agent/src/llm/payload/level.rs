//! The level of data to send.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// How much is sent. Each level has all of those before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
pub enum Share {
    /// Numbers alone: no names, paths, hosts or users
    #[default]
    Figures,
    /// Also names of kernels and ranges, and texts of findings
    Names,
    /// Also source code of --source-dir
    Source,
}

impl Share {
    /// The word of the level on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Figures => "figures",
            Self::Names => "names",
            Self::Source => "source",
        }
    }

    /// The level of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::from_str(word, false).ok()
    }
}

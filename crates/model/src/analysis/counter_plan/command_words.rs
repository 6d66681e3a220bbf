//! Words of a profiler's command, and the errors in them.

use std::iter::Peekable;

use serde::Deserialize;

/// Number of values that a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Takes {
    Nothing,
    /// None, or a truth value.
    Switch,
    One,
    /// One or more.
    Some,
    Any,
}

impl Takes {
    /// The values of a flag: the value joined to it, otherwise the words behind it.
    pub fn values<'a>(
        self,
        joined: Option<&str>,
        rest: &mut Peekable<impl Iterator<Item = &'a String>>,
    ) -> Vec<String> {
        if let Some(value) = joined {
            return vec![value.to_owned()];
        }
        let most = match self {
            Self::Nothing => 0,
            Self::Switch | Self::One => 1,
            Self::Some | Self::Any => usize::MAX,
        };
        let mut values = Vec::new();
        while values.len() < most
            && let Some(value) = rest.next_if(|next| !next.starts_with('-'))
        {
            values.push(value.clone());
        }
        values
    }

    /// Whether values are too few.
    pub fn lacks(self, values: &[String]) -> bool {
        values.is_empty() && matches!(self, Self::One | Self::Some)
    }
}

/// The name of a flag, and the value that `=` joins to a long one.
pub(super) fn name_and_value(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=').filter(|_| word.starts_with("--")) {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    }
}

/// Position of the program of a command behind variables that are set for it, and its name.
pub(super) fn program(words: &[String]) -> (usize, &str) {
    let is_variable = |word: &&String| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
    let at = words.iter().take_while(is_variable).count();
    (at, words.get(at).and_then(|word| word.rsplit('/').next()).unwrap_or_default())
}

/// An error in a command for a profiler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandProblem {
    /// The built-in tables do not list what the program accepts.
    #[error("{0} is not a known profiler; known are {1}")]
    Tool(String, String),
    /// The mode is missing.
    #[error("{tool} is first told one of {modes}")]
    NoMode {
        /// The program.
        tool: String,
        /// Modes of the profiler.
        modes: String,
    },
    /// A flag that rocprofv3 does not have.
    #[error("rocprofv3 has no flag {flag}{}", .nearest.as_ref().map(|name| format!(" (did you mean {name}?)")).unwrap_or_default())]
    Unknown {
        flag: String,
        /// The most similar flag.
        nearest: Option<String>,
    },
    /// A flag that does not exist or is not documented.
    #[error("{0} is not known to have a flag {1}")]
    Unlisted(String, String),
    /// A flag without its value.
    #[error("{0} needs a value")]
    NoValue(String),
    /// A value that the flag does not take.
    #[error("{flag} does not take {value}{}", .allowed.as_ref().map(|allowed| format!(", only {allowed}")).unwrap_or_default())]
    Value {
        flag: String,
        value: String,
        /// Values that it takes.
        allowed: Option<String>,
    },
    /// A word that belongs to no flag.
    #[error("{0} belongs to no flag; the program follows --")]
    Stray(String),
    /// Flags that cannot be together, and why.
    #[error("{first} and {second} do not go together{}", because(.reason))]
    Conflict { first: String, second: String, reason: Option<String> },
    /// A flag without another, and why it is needed.
    #[error("{flag} needs {other}{}", because(.reason))]
    Without { flag: String, other: String, reason: Option<String> },
    /// A program, flag, value or repetition that the release does not have.
    #[error("{what} exists {releases}, not in ROCm {version}{}", .instead.as_ref().map(|name| format!("; use {name}")).unwrap_or_default())]
    Release {
        what: String,
        /// Releases that have it.
        releases: String,
        version: String,
        /// Its replacement.
        instead: Option<String>,
    },
    /// A flag that means something else in another release.
    #[error("{flag} of {tool} means {older} before ROCm {since}, and {newer} since; write the long name")]
    TwoMeanings {
        /// The program.
        tool: String,
        flag: String,
        older: String,
        newer: String,
        /// The first release with the newer meaning.
        since: String,
    },
    /// A repeated flag, of which rocprofv3 takes the last.
    #[error("{0} stands twice{1}")]
    Twice(String, &'static str),
    /// Nothing to run.
    #[error("no program follows --")]
    NoProgram,
}

fn because(reason: &Option<String>) -> String {
    reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default()
}

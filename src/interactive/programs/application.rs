//! The application that is tuned.

use super::error::ProgramError;
use super::kind::ApplicationKind;

/// An application: how it is started, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Application {
    /// Variables that are set for it.
    pub environment: Vec<(String, String)>,
    /// Its words, from the first wrapper or launcher on.
    pub words: Vec<String>,
    pub kind: ApplicationKind,
    /// Whether several processes of it may write traces.
    pub has_many_processes: bool,
}

impl Application {
    /// From the words of a command.
    pub(crate) fn of_words(words: Vec<String>) -> Self {
        Self { environment: Vec::new(), words, kind: ApplicationKind::Unknown, has_many_processes: false }
    }

    /// From a line as it is typed in a shell.
    ///
    /// # Errors
    /// Where the line needs a shell, or cannot be split.
    pub(crate) fn of_line(line: &str) -> Result<Self, ProgramError> {
        let words = crate::analysis::counter_plan::words(line);
        words.map(Self::of_words).ok_or_else(|| ProgramError::Quoting(line.to_owned()))
    }

    /// As a line for a shell.
    pub(crate) fn line(&self) -> String {
        self.words.join(" ")
    }
}

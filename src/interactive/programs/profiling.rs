//! rocprofv3 commands for an application.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::application::Application;
use super::error::ProgramError;

/// A command that profiles an application with rocprofv3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Profiling {
    /// Variables that are set for it.
    pub environment: Vec<(String, String)>,
    /// Its words. They start with rocprofv3, except that a launcher of MPI stands before it.
    pub words: Vec<String>,
}

impl Profiling {
    /// The first command for an application.
    pub(crate) fn first(application: &Application, _directory: &Path) -> Self {
        Self { environment: application.environment.clone(), words: application.words.clone() }
    }

    /// A recommended command for this application.
    ///
    /// # Errors
    /// Where it does not run rocprofv3, or rocprofv3 would not take it.
    pub(crate) fn of_words(
        _words: &[String],
        application: &Application,
        directory: &Path,
    ) -> Result<Self, ProgramError> {
        Ok(Self::first(application, directory))
    }

    /// A command of a line as it is typed in a shell.
    ///
    /// # Errors
    /// Also where the line needs a shell, or cannot be split.
    pub(crate) fn of_line(line: &str, application: &Application, directory: &Path) -> Result<Self, ProgramError> {
        let words = crate::analysis::counter_plan::words(line);
        Self::of_words(&words.ok_or_else(|| ProgramError::Quoting(line.to_owned()))?, application, directory)
    }

    /// As a line for a shell.
    pub(crate) fn line(&self) -> String {
        self.words.join(" ")
    }

    /// What it collects.
    pub(crate) fn collects(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// Whether it collects nothing that earlier commands did not.
    pub(crate) fn repeats(&self, _earlier: &[Self]) -> bool {
        false
    }

    /// What it wrote that can be read, sorted.
    pub(crate) fn traces(&self, _directory: &Path) -> Vec<PathBuf> {
        Vec::new()
    }
}

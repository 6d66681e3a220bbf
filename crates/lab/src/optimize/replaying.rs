//! Captured dispatches as checks: the candidate's code must leave the same memory as the captured code.

use std::path::{Path, PathBuf};

use super::commands::{Commands, Ran};
use super::error::OptimizeError;
use crate::interactive::programs::Application;

/// Captures to replay, with the options of `lab replay`.
#[derive(Clone, Debug, Default)]
pub struct Replays {
    /// Directories with `dispatch.json`, absolute.
    pub captures: Vec<PathBuf>,
    /// Differences to allow, as `lab replay --tolerance` takes them.
    pub tolerance: Option<String>,
    /// The HSA runtime.
    pub runtime: Option<PathBuf>,
}

impl Replays {
    /// Replays each capture with a code object, in a separate process; returns the first failure.
    pub(super) fn failure(
        &self,
        commands: &Commands<'_>,
        object: &Path,
        copy: &Path,
    ) -> Result<Option<Ran>, OptimizeError> {
        let own = std::env::current_exe().map_err(anyhow::Error::from)?;
        for capture in &self.captures {
            let path = |path: &Path| path.to_string_lossy().into_owned();
            let mut words =
                vec![path(&own), "--quiet".to_owned(), "lab".to_owned(), "replay".to_owned(), path(capture)];
            words.extend(["--hsaco".to_owned(), path(object), "--expect".to_owned(), "original".to_owned()]);
            words.extend(["--iterations".to_owned(), "1".to_owned()]);
            let options = [("--tolerance", self.tolerance.clone()), ("--runtime", self.runtime.as_deref().map(path))];
            for (name, value) in options {
                words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
            }
            let ran = commands.run(&Application::of_words(words), copy)?;
            if ran.problem.is_some() {
                return Ok(Some(ran));
            }
        }
        Ok(None)
    }
}

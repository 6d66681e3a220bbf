//! The user's commands, in a copy of the sources.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::OptimizeError;
use super::place::SourcesPlace;
use crate::interactive::programs::{Application, End, Limits, run};

const OUTPUT_BYTES: u64 = 8 << 20;

/// Runs the user's commands.
pub struct Commands<'a> {
    pub place: SourcesPlace,
    /// Time limit of a command in seconds.
    pub time_limit_s: Option<u64>,
    pub is_interrupted: &'a dyn Fn() -> bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ran {
    pub command: String,
    /// `None` if the command succeeded, otherwise how it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub seconds: f64,
    /// The end of the output.
    pub output: String,
}

impl Commands<'_> {
    pub(super) fn limits(&self) -> Limits {
        Limits { seconds: self.time_limit_s, output_bytes: OUTPUT_BYTES }
    }

    /// A command with its paths mapped into a copy.
    pub(super) fn mapped(&self, application: &Application, copy: &Path) -> Application {
        let word = |text: &String| self.place.mapped(text, copy);
        let environment = application.environment.iter().map(|(name, value)| (name.clone(), word(value)));
        Application {
            environment: environment.collect(),
            words: application.words.iter().map(word).collect(),
            ..application.clone()
        }
    }

    pub(super) fn directory(&self, copy: &Path) -> PathBuf {
        copy.join(&self.place.directory)
    }

    /// Runs a command to its end, whether it succeeds or not.
    pub(super) fn run(&self, application: &Application, copy: &Path) -> Result<Ran, OptimizeError> {
        let mapped = self.mapped(application, copy);
        let ended = run(
            &mapped.words,
            &mapped.environment,
            &self.directory(copy),
            &self.limits(),
            self.is_interrupted,
            &mut |_| {},
        );
        let problem = match &ended.end {
            End::Interrupted => return Err(OptimizeError::Interrupted),
            End::NotFound(_) => {
                let place = self.place.root.join(&self.place.directory);
                Some(format!(
                    "was not found in {} or on PATH; check its name, or name the folder of the sources with --source-dir",
                    place.display()
                ))
            }
            end => problem_of(end, self.time_limit_s),
        };
        Ok(Ran { command: mapped.line(), problem, seconds: ended.seconds, output: ended.tail })
    }
}

/// Describes the end of a command that failed.
fn problem_of(end: &End, limit_s: Option<u64>) -> Option<String> {
    match end {
        End::Code(0) => None,
        End::Code(code) => Some(format!("ended with code {code}")),
        End::Signal(signal) => Some(format!("was ended by signal {signal}")),
        End::NotFound(_) => Some("was not found; check its name and PATH".to_owned()),
        End::NotStarted(reason) => Some(format!("could not be started: {reason}")),
        End::TimeLimit => Some(format!("did not end within {} s (--time-limit)", limit_s.unwrap_or_default())),
        End::Interrupted => Some("was interrupted".to_owned()),
    }
}

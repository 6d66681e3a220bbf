//! The application to tune.

use wavesieve_model::analysis::counter_plan::quoted;

use super::classification::classified;
use super::error::ProgramError;
use super::kind::ApplicationKind;
use super::shell_line::words_of_line;
use super::starters::{assignment, base_name, started};

/// An application: its command and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Variables to set for it.
    pub environment: Vec<(String, String)>,
    /// Its words, from the first wrapper or launcher on.
    pub words: Vec<String>,
    pub kind: ApplicationKind,
    /// Whether several processes of it may write traces.
    pub has_many_processes: bool,
}

impl Application {
    /// Makes an application from the words of a command. Variables in front, or of an `env` without options, become its
    /// environment. If the command already runs rocprofv3, the application is the program that rocprofv3 runs.
    pub fn of_words(words: Vec<String>) -> Self {
        let (mut environment, mut words) = without_variables(words);
        let program = started(&words).program;
        if program.first().is_some_and(|program| base_name(program) == "rocprofv3") {
            let (before, inner) =
                (words.len() - program.len(), program.iter().skip_while(|word| *word != "--").skip(1));
            let inner: Vec<String> = inner.cloned().collect();
            let (more, inner) = without_variables(inner);
            environment.extend(more);
            words.truncate(before);
            words.extend(inner);
        }
        let (kind, has_many_processes) = classified(&words);
        Self { environment, words, kind, has_many_processes }
    }

    /// Makes an application from a line in shell syntax.
    ///
    /// # Errors
    /// When the line needs a shell, or cannot be split.
    pub fn of_line(line: &str) -> Result<Self, ProgramError> {
        let application = Self::of_words(words_of_line(line)?);
        if application.words.is_empty() { Err(ProgramError::Empty) } else { Ok(application) }
    }

    /// The command as a line for a shell.
    pub fn line(&self) -> String {
        line(&self.environment, &self.words)
    }
}

/// A command as a line for a shell.
pub(super) fn line(environment: &[(String, String)], words: &[String]) -> String {
    let variables = environment.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
    variables.chain(words.iter().map(|word| quoted(word))).collect::<Vec<_>>().join(" ")
}

/// The variables that are set in front of a command, and the command.
pub(super) fn without_variables(words: Vec<String>) -> (Vec<(String, String)>, Vec<String>) {
    let mut environment: Vec<(String, String)> = Vec::new();
    let mut rest = words.as_slice();
    while let [first, behind @ ..] = rest {
        if let Some((name, value)) = assignment(first) {
            environment.retain(|(known, _)| known != name);
            environment.push((name.to_owned(), value.to_owned()));
        } else if base_name(first) != "env" || behind.first().is_none_or(|word| word.starts_with('-')) {
            break;
        }
        rest = behind;
    }
    (environment, rest.to_vec())
}

//! Errors of a space, a template, or a file of results.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Reasons why parameters cannot be tuned.
#[derive(Debug, Error)]
pub enum AutotuneError {
    #[error("{}: {cause}", path.display())]
    Read { path: PathBuf, cause: io::Error },
    #[error("{}: {cause}", path.display())]
    Write { path: PathBuf, cause: io::Error },
    #[error("{} is not a space of parameters: {reason}", path.display())]
    Space { path: PathBuf, reason: String },
    #[error("constraint `{text}`: {reason}")]
    Constraint { text: String, reason: String },
    #[error("the command names `{{{name}}}`, which is not a parameter of the space; choose from {known}")]
    UnknownPlaceholder { name: String, known: String },
    #[error(
        "the command does not use the parameter `{name}`; add {{{name}}} to it, or remove the parameter from the space"
    )]
    UnusedParameter { name: String },
    #[error("the command is empty; add -- CMD with the parameters as {{NAME}}")]
    EmptyCommand,
    #[error("{} was written for another {what} ({before}, now {now}); name another file with --state", path.display())]
    OtherState { path: PathBuf, what: &'static str, before: String, now: String },
    #[error("{}, line {line}: {reason}; remove the line, or name another file with --state", path.display())]
    DamagedState { path: PathBuf, line: usize, reason: String },
    #[error("{} is in use by another run; wait for its end, or name another file with --state", path.display())]
    StateInUse { path: PathBuf },
    #[error("{} is not a regular file, so that it cannot keep results; name another file with --state", path.display())]
    NoStateFile { path: PathBuf },
    #[error("cannot open {}: {cause}; name another file with --state", path.display())]
    OpenState { path: PathBuf, cause: io::Error },
}

impl AutotuneError {
    /// Returns whether the command line, or a file that it names, has to change.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Write { .. })
    }
}

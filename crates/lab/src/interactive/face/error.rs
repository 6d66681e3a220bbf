//! Reasons why a console cannot ask or report.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Reasons why a console cannot ask or report.
#[derive(Debug, Error)]
pub enum FaceError {
    /// The file with answers cannot be read.
    #[error("cannot read answers of {}: {error}", .path.display())]
    Answers { path: PathBuf, error: io::Error },
    /// The next answer belongs to another question.
    #[error(
        "{}:{line} answers `{given}`, but `{asked}` is asked; begin the line with `{asked}:`, or remove it",
        .path.display()
    )]
    OtherQuestion { path: PathBuf, line: usize, given: String, asked: &'static str },
    /// The file for events cannot be written.
    #[error("cannot write events to {}: {error}", .path.display())]
    Events { path: PathBuf, error: io::Error },
    /// The answers cannot be read.
    #[error("cannot read an answer to `{asked}`: {error}")]
    Input { asked: &'static str, error: io::Error },
    /// The output cannot be written.
    #[error("cannot write to the terminal: {0}")]
    Output(#[source] io::Error),
}

//! Errors that stop an optimization.

use std::path::PathBuf;

use thiserror::Error;

use crate::interactive::edits::EditError;
use crate::interactive::programs::ProgramError;
use crate::measuring::MeasureError;
use wavesieve_agent::llm::LlmError;

/// Reasons why the optimization stops.
#[derive(Debug, Error)]
pub enum OptimizeError {
    /// An unusable option or file.
    #[error("{0}")]
    Usage(String),
    /// The original program does not pass the checks for candidates.
    #[error("the program as it is {0}")]
    Baseline(String),
    /// A command wrote into the sources.
    #[error(
        "{} changed in the sources while {command} ran; leave them alone meanwhile, and if the command did it, use relative paths in it, or {{dir}} for the folder of the copy",
        path.display()
    )]
    WroteOriginal { command: String, path: PathBuf },
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// An unusable command.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A change that cannot be applied.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// A failure of the model.
    #[error(transparent)]
    Model(#[from] LlmError),
    /// Any other failure.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl From<MeasureError> for OptimizeError {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Interrupted => Self::Interrupted,
            other => Self::Other(other.into()),
        }
    }
}

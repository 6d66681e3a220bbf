//! Why no candidate can be judged.

use std::path::PathBuf;

use thiserror::Error;

use crate::interactive::edits::EditError;
use crate::interactive::programs::ProgramError;
use crate::measuring::MeasureError;
use wavesieve_agent::llm::LlmError;

/// Why the work ends.
#[derive(Debug, Error)]
pub enum OptimizeError {
    /// An option or file that cannot be used.
    #[error("{0}")]
    Usage(String),
    /// The program as it is does not pass what candidates have to pass.
    #[error("the program as it is {0}")]
    Baseline(String),
    /// A command wrote where the sources are.
    #[error(
        "{} changed in the sources while {command} ran; leave them alone meanwhile, and if the command did it, use relative paths in it, or {{dir}} for the folder of the copy",
        path.display()
    )]
    WroteOriginal { command: String, path: PathBuf },
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// A command that cannot be used.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A change that cannot be applied.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The model.
    #[error(transparent)]
    Model(#[from] LlmError),
    /// Anything else.
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

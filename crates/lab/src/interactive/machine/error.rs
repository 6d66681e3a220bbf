//! Reasons why a session stops.

use thiserror::Error;

use crate::interactive::checkpoints::GitError;
use crate::interactive::edits::EditError;
use crate::interactive::face::FaceError;
use crate::interactive::programs::ProgramError;
use crate::interactive::sessions::SessionError;
use wavesieve_agent::llm::LlmError;

/// Reasons why a session cannot continue. It is saved, and can be resumed.
#[derive(Debug, Error)]
pub enum MachineError {
    /// The command line is not usable.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Face(#[from] FaceError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Model(#[from] LlmError),
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl MachineError {
    /// Returns whether the command line, or a file that it names, has to change.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Usage(_) | Self::Model(LlmError::Usage(_)) => true,
            Self::Session(error) => {
                !matches!(error, SessionError::Read { .. } | SessionError::Write { .. } | SessionError::Remove { .. })
            }
            Self::Face(error) => matches!(error, FaceError::Answers { .. } | FaceError::OtherQuestion { .. }),
            _ => false,
        }
    }
}

#[derive(Debug, Error)]
pub(crate) enum Halt {
    /// The user stops; the session stays where it is.
    #[error("stopped")]
    Quit,
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Error(#[from] MachineError),
}

macro_rules! halts {
    ($($error:ty),*) => {
        $(impl From<$error> for Halt {
            fn from(error: $error) -> Self {
                Self::Error(error.into())
            }
        })*
    };
}

halts!(SessionError, FaceError, ProgramError, EditError, GitError, LlmError, anyhow::Error);

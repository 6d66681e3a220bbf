//! Why a session stops.

use thiserror::Error;

use crate::interactive::checkpoints::GitError;
use crate::interactive::edits::EditError;
use crate::interactive::face::FaceError;
use crate::interactive::programs::ProgramError;
use crate::interactive::sessions::SessionError;
use wavesieve_agent::llm::LlmError;

/// Why a session cannot go on. It is saved, and can be resumed.
#[derive(Debug, Error)]
pub enum MachineError {
    /// The command line cannot be used.
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
    /// Whether the command line, or a file that it names, is to blame.
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
    /// The user wants to stop; the session stays where it is.
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

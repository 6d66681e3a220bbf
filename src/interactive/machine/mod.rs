//! The loop itself.

use thiserror::Error;

use super::LoopOptions;
use super::face::{Face, FaceError};
use super::sessions::{SessionError, Store};

/// Why a loop ends before its time.
#[derive(Debug, Error)]
pub(crate) enum MachineError {
    /// The session cannot be read or written.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The person cannot be asked.
    #[error(transparent)]
    Face(#[from] FaceError),
    /// The loop is not part of this program yet.
    #[error("the loop is not part of this program yet")]
    Missing,
}

/// Runs a session to its end; the exit code of the program.
///
/// # Errors
/// When the session or the face fails.
pub(crate) fn run(options: LoopOptions, store: &Store, _face: &mut dyn Face) -> Result<u8, MachineError> {
    if let Some(named) = &options.resume {
        store.load(named)?;
    }
    Err(MachineError::Missing)
}

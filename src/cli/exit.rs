//! Exit codes, and the failures behind them.

use std::fmt::Display;
use std::io;

use thiserror::Error;

use wavesieve_engine::QueryError;
use wavesieve_input::InputError;
use wavesieve_model::text::causes::with_causes;
use wavesieve_report::batch::GroupingError;
use wavesieve_tables::trace::MissingUnit;

pub(crate) const DONE: u8 = 0;
/// An unexpected failure.
pub(crate) const UNEXPECTED: u8 = 1;
/// The command line is wrong, or names a file that does not exist.
pub(crate) const USAGE: u8 = 2;
/// No trace among the inputs, or no data of the kind requested.
pub(crate) const NO_DATA: u8 = 3;
/// A threshold was exceeded: `check` found an error, or an analysis exceeded `--fail-on`. Takes precedence over the
/// codes for missing data.
pub(crate) const EXCEEDED: u8 = 4;
/// An input was damaged or unreadable, or one of several queries failed; the result is partial.
pub(crate) const PARTIAL: u8 = 5;

/// Some documents of a batch could not be made.
pub(crate) const SOME_FAILED: u8 = 6;

/// A threshold cannot be decided. Takes precedence over [`PARTIAL`], but not over [`EXCEEDED`].
pub(crate) const UNDECIDED: u8 = 7;

/// Reasons why a command failed.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// The inputs cannot be turned into a trace.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The query cannot be found, rendered or run.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The command line requests something impossible.
    #[error("{0}")]
    Usage(String),
    /// Any other failure.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

/// Returns a [`Failure::Usage`] from the function, with a text as for `format!`.
macro_rules! refuse {
    ($($text:tt)+) => {
        return Err($crate::cli::exit::Failure::usage(format_args!($($text)+)))
    };
}
pub(crate) use refuse;

impl Failure {
    /// A [`Failure::Usage`] with this reason.
    pub(crate) fn usage(reason: impl Display) -> Self {
        Self::Usage(reason.to_string())
    }

    /// The exit code, by which scripts distinguish failures.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            _ if self.is_broken_pipe() => DONE,
            Self::Input(error) => code_of_input(error),
            Self::Other(error) if error.is::<MissingUnit>() => NO_DATA,
            Self::Other(error) => error.downcast_ref().map_or(UNEXPECTED, code_of_input),
            Self::Query(QueryError::Other(_) | QueryError::Runner { .. }) => UNEXPECTED,
            Self::Usage(_) | Self::Query(_) => USAGE,
        }
    }

    /// The message for the user.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Other(error) => with_causes(error),
            other => other.to_string(),
        }
    }

    /// Returns whether the reader closed the output, which is not a failure.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let (Self::Other(error) | Self::Query(QueryError::Other(error)) | Self::Input(InputError::Other(error))) = self
        else {
            return false;
        };
        error.chain().any(|cause| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
                || cause.downcast_ref::<csv::Error>().is_some_and(|error| {
                    matches!(error.kind(), csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
                })
        })
    }
}

fn code_of_input(error: &InputError) -> u8 {
    match error {
        InputError::NoSuchFile { .. } | InputError::NotListed { .. } | InputError::Address(_) => USAGE,
        InputError::NoTrace { .. } => NO_DATA,
        InputError::Damaged { .. } => PARTIAL,
        InputError::Other(_) => UNEXPECTED,
    }
}

impl From<GroupingError> for Failure {
    fn from(error: GroupingError) -> Self {
        match error {
            GroupingError::Input(error) => Self::Input(error),
            GroupingError::NothingMatches { .. } => Self::Usage(error.to_string()),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Other(error.into())
    }
}

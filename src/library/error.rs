//! Reasons why a request failed.

use wavesieve_engine::QueryError;
use wavesieve_engine::findings::RuleBookError;
use wavesieve_export::conversion::Refused;
use wavesieve_input::InputError;
use wavesieve_model::text::causes::with_causes;

/// Reasons why a request failed. The message names the input, option or statement, and the fix.
///
/// ```
/// use wavesieve::{Error, Trace};
///
/// assert!(matches!(Trace::open(["no_such_folder"]), Err(Error::NoSuchFile(_))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input names a file that does not exist.
    #[error("{0}")]
    NoSuchFile(String),
    /// No input holds a trace.
    #[error("{0}")]
    NoTrace(String),
    /// Every trace among the inputs is too damaged to read.
    #[error("{0}")]
    Damaged(String),
    /// A filter, name, option or statement is wrong.
    #[error("{0}")]
    Invalid(String),
    /// Reading, computing or writing failed.
    #[error("{0}")]
    Failed(String),
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        match error {
            InputError::NoSuchFile { .. } | InputError::NotListed { .. } | InputError::Address(_) => {
                Self::NoSuchFile(error.to_string())
            }
            InputError::NoTrace { .. } => Self::NoTrace(error.to_string()),
            InputError::Damaged { .. } => Self::Damaged(error.to_string()),
            InputError::Other(error) => error.into(),
        }
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Other(error) => error.into(),
            error => Self::Invalid(error.to_string()),
        }
    }
}

impl From<RuleBookError> for Error {
    fn from(error: RuleBookError) -> Self {
        Self::Invalid(error.to_string())
    }
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        if let Some(refused) = error.downcast_ref::<Refused>() {
            return Self::Invalid(refused.to_string());
        }
        Self::Failed(with_causes(&error))
    }
}

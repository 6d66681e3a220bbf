//! Failures of tools, with the exit code that the program would have.

use serde_json::{Value, json};

use wavesieve_engine::QueryError;
use wavesieve_input::InputError;
use wavesieve_model::text::causes::with_causes;
use wavesieve_tables::trace::MissingUnit;

/// Maximum bytes of the start and of the end of a message: some messages repeat the request.
const SHOWN: usize = 700;

/// Exit codes of the program, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exit {
    #[default]
    Done,
    Unexpected,
    Usage,
    NoData,
    Exceeded,
    Partial,
}

impl Exit {
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Unexpected => 1,
            Self::Usage => 2,
            Self::NoData => 3,
            Self::Exceeded => 4,
            Self::Partial => 5,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unexpected => "unexpected",
            Self::Usage => "usage",
            Self::NoData => "no_data",
            Self::Exceeded => "exceeded",
            Self::Partial => "partial",
        }
    }

    /// The code with its name.
    pub(super) fn json(self) -> Value {
        json!({ "code": self.code(), "name": self.name() })
    }
}

/// The reason why a tool has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFailure {
    pub(super) exit: Exit,
    /// The message, the same as from the program.
    pub message: String,
}

impl ToolFailure {
    pub(super) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Returns whether the request is wrong, not its execution.
    pub fn is_usage(&self) -> bool {
        self.exit == Exit::Usage
    }

    /// The message, or the start and the end of a long one: the request is in its middle, and the problem at its end.
    fn shortened(&self) -> String {
        let (start, end) = (
            self.message.floor_char_boundary(SHOWN),
            self.message.ceil_char_boundary(self.message.len().saturating_sub(SHOWN)),
        );
        match (self.message.get(..start), self.message.get(end..)) {
            (Some(first), Some(last)) if start < end => format!("{first} … ({} bytes) … {last}", end - start),
            _ => self.message.clone(),
        }
    }

    /// The result of a failed call: an error that the agent sees and can correct.
    pub(super) fn result(&self) -> Value {
        let message = self.shortened();
        let structured = json!({ "error": message, "exit": self.exit.json() });
        json!({
            "content": [{ "type": "text", "text": format!("error ({}): {message}", self.exit.name()) }],
            "structuredContent": structured,
            "isError": true,
        })
    }
}

impl From<InputError> for ToolFailure {
    fn from(error: InputError) -> Self {
        let exit = match &error {
            InputError::NoSuchFile { .. } | InputError::NotListed { .. } | InputError::Address(_) => Exit::Usage,
            InputError::NoTrace { .. } => Exit::NoData,
            InputError::Damaged { .. } => Exit::Partial,
            InputError::Other(error) => return Self::new(Exit::Unexpected, with_causes(error)),
        };
        Self::new(exit, error.to_string())
    }
}

impl From<QueryError> for ToolFailure {
    fn from(error: QueryError) -> Self {
        match &error {
            QueryError::Other(error) => Self::new(Exit::Unexpected, with_causes(error)),
            other => Self::usage(other.to_string()),
        }
    }
}

impl From<anyhow::Error> for ToolFailure {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<QueryError>() {
            Ok(error) => error.into(),
            Err(error) if error.is::<MissingUnit>() => Self::new(Exit::NoData, error.to_string()),
            Err(error) => Self::new(Exit::Unexpected, with_causes(&error)),
        }
    }
}

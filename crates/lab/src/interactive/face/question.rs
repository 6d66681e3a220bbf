//! Questions of a session, and their answers.

/// A possible answer of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub key: String,
    pub label: String,
}

impl Choice {
    /// Makes a choice from a key and its effect.
    pub fn new(key: impl Into<String>, label: impl Into<String>) -> Self {
        Self { key: key.into(), label: label.into() }
    }
}

/// A question to a user or an answer file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Its name in files with answers and in events, such as `edit.apply`.
    pub id: &'static str,
    pub text: String,
    /// Offered answers. Other answers are possible too, and the session decides about them.
    pub choices: Vec<Choice>,
    /// The answer for an empty line, and with `--yes`.
    pub default: Option<String>,
    /// Whether the answer is all lines until an empty one.
    pub is_long: bool,
}

/// The reply to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A trimmed line, or the default if it is empty; all lines of a long answer.
    Line(String),
    /// There are no more answers.
    End,
    /// Ctrl-C was pressed.
    Interrupted,
}

/// The purpose of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Heading,
    Text,
    Note,
    Warning,
    Error,
    Good,
}

//! Questions of a loop, and the faces that answer them.

/// An answer that a question names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub key: String,
    pub label: String,
}

impl Choice {
    /// One of a key and what it does.
    pub fn new(key: impl Into<String>, label: impl Into<String>) -> Self {
        Self { key: key.into(), label: label.into() }
    }
}

/// A question to a person or a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Its name in files with answers and in events, such as `edit.apply`.
    pub id: &'static str,
    pub text: String,
    /// Answers that are offered; others come as well, and the machine decides.
    pub choices: Vec<Choice>,
    /// The answer of an empty line, and of `--yes`.
    pub default: Option<String>,
    /// Whether the answer is all lines until an empty one.
    pub is_long: bool,
}

/// The reply to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A trimmed line, or the default where it is empty; of a long answer all lines.
    Line(String),
    /// No more answers come.
    End,
    /// Ctrl-C.
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

//! Questions of a loop, and the faces that answer them.

use serde_json::Value;

use super::error::FaceError;

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

/// The other side of a loop: it answers questions and shows texts.
pub trait Face {
    /// Asks; the question and its answer are events as well.
    ///
    /// # Errors
    /// When the answer is one to another question, or nothing can be written any more.
    fn ask(&mut self, question: &Question) -> Result<Reply, FaceError>;
    /// Reports a text of one or more lines.
    fn say(&mut self, level: Level, text: &str);
    /// Shows rows below their head: aligned, and cut at the width of the terminal.
    fn table(&mut self, head: &[&str], rows: &[Vec<String>]);
    /// Shows a unified diff, or its beginning.
    fn diff(&mut self, diff: &str);
    /// Shows a line of a child.
    fn output(&mut self, line: &str);
    /// Something runs until [`Face::end`].
    fn begin(&mut self, text: &str);
    /// A server is waited for until [`Face::end`]; Ctrl-C then ends the program, whose session is saved.
    fn begin_request(&mut self, text: &str);
    /// It ended.
    fn end(&mut self);
    /// Names the session in all later events.
    fn set_session(&mut self, id: &str);
    /// Reports an event to other programs.
    fn event(&mut self, name: &str, fields: Value);
    /// Whether Ctrl-C was pressed since the last [`Face::forgive`].
    fn is_interrupted(&self) -> bool;
    /// Whether Ctrl-C was pressed, as a function that a child's runner can keep while the face shows its lines.
    fn interruption(&self) -> Box<dyn Fn() -> bool>;
    /// Goes on after Ctrl-C.
    fn forgive(&mut self);
}

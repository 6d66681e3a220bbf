//! A question to a model and its answer, whatever the provider.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::usage::Usage;

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

impl Role {
    /// Its name in all protocols.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A message of the user or the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub text: String,
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// Schema of its arguments.
    pub schema: Value,
}

/// A call of a tool, as a model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// By which its result is found; empty where the server gives none.
    pub id: String,
    pub name: String,
    /// JSON, or what the model took for it.
    pub arguments: String,
}

impl ToolCall {
    /// The arguments; `None` if they are not an object.
    pub fn parsed(&self) -> Option<Map<String, Value>> {
        // No argument at all is an empty text.
        let text = if self.arguments.trim().is_empty() { "{}" } else { &self.arguments };
        serde_json::from_str(text).ok()
    }
}

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolResult {
    pub text: String,
    pub is_error: bool,
}

/// Calls of a model with their results, one for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The model's text before its calls.
    pub text: String,
    pub calls: Vec<(ToolCall, ToolResult)>,
}

/// A question with all that came before.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Instructions for the model; the same for many questions, so that it can be cached.
    pub system: String,
    /// A shorter form of it, for a model that used all tokens before it wrote.
    pub short_system: Option<String>,
    pub messages: Vec<Message>,
    /// Schema that the answer follows, where the model can.
    pub schema: Option<Value>,
    /// Tokens that the answer may take, if not as many as the provider allows.
    pub max_tokens: Option<u32>,
    /// Tools that the model may call before it answers.
    pub tools: Vec<ToolSpec>,
    /// Its calls after the last message.
    pub turns: Vec<Turn>,
    /// The notice to the model when it may call no more.
    pub closing: Option<String>,
    /// Whether calls are written as text, for models and servers that know of no tools.
    pub is_by_text: bool,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Its text; tokens of the redaction are still in it.
    pub text: String,
    /// Name of the provider.
    pub provider: String,
    /// Name of the model, as the provider reports it or as it was asked for.
    pub model: String,
    pub usage: Usage,
    /// Whether its end is missing.
    pub is_cut: bool,
    /// Tools that it calls; then the text is not an answer yet.
    pub calls: Vec<ToolCall>,
    /// Whether the calls were written as text.
    pub is_by_text: bool,
    /// Warnings about it.
    pub warnings: Vec<String>,
}

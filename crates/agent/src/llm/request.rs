//! A request to a model and its answer, for any provider.

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
    /// JSON Schema of its arguments.
    pub schema: Value,
}

/// A tool call, as the model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Id that its result refers to; empty if the server gives none.
    pub id: String,
    pub name: String,
    /// JSON, or the model's attempt at it.
    pub arguments: String,
}

impl ToolCall {
    /// The arguments; `None` if they are not an object.
    pub fn parsed(&self) -> Option<Map<String, Value>> {
        // An empty text means no arguments.
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

/// Tool calls of a model with their results, one for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The model's text before its calls.
    pub text: String,
    pub calls: Vec<(ToolCall, ToolResult)>,
}

/// A question with all earlier messages.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Instructions for the model. They are the same for many questions, so that they can be cached.
    pub system: String,
    /// A shorter form of the instructions, for a model that used all tokens before it wrote.
    pub short_system: Option<String>,
    pub messages: Vec<Message>,
    /// Schema for the answer, if the model supports it.
    pub schema: Option<Value>,
    /// Maximum tokens of the answer; by default the provider's maximum.
    pub max_tokens: Option<u32>,
    /// Tools that the model may call before it answers.
    pub tools: Vec<ToolSpec>,
    /// Its calls after the last message.
    pub turns: Vec<Turn>,
    /// The notice to the model that it may not call any more.
    pub closing: Option<String>,
    /// Whether calls are written as text, for models and servers without tool support.
    pub is_by_text: bool,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Its text, still with redaction tokens.
    pub text: String,
    /// Name of the provider.
    pub provider: String,
    /// Name of the model, as the provider reports it or as requested.
    pub model: String,
    pub usage: Usage,
    /// Whether its end is missing.
    pub is_cut: bool,
    /// Tool calls; then the text is not an answer yet.
    pub calls: Vec<ToolCall>,
    /// Whether the calls were written as text.
    pub is_by_text: bool,
    /// Warnings about it.
    pub warnings: Vec<String>,
}

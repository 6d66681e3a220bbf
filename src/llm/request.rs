//! A question to a model and its answer, whatever the provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::usage::Usage;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    User,
    Assistant,
}

impl Role {
    /// Its name in all protocols.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// What someone said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub role: Role,
    pub text: String,
}

/// A question with all that came before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// Instructions for the model; the same for many questions, so that it can be cached.
    pub system: String,
    /// A shorter form of it, for a model that used all tokens before it wrote.
    pub short_system: Option<String>,
    pub messages: Vec<Message>,
    /// Schema that the answer follows, where the model can.
    pub schema: Option<Value>,
    /// Tokens that the answer may take, if not as many as the provider allows.
    pub max_tokens: Option<u32>,
}

/// An answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    /// Its text; tokens of the redaction are still in it.
    pub text: String,
    /// Name of the provider.
    pub provider: String,
    /// Name of the model, as the provider reports it or as it was asked for.
    pub model: String,
    pub usage: Usage,
    /// Whether its end is missing.
    pub is_cut: bool,
    /// What to know about it.
    pub warnings: Vec<String>,
}

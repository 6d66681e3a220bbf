//! The questions and answers of a conversation so far.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::archive;
use super::summary::{LABEL, SUMMARIZED};
use crate::llm::error::LlmError;
use crate::llm::payload::Share;
use crate::llm::redaction::{KnownName, Remembered};
use crate::llm::request::{Message, Role};

/// Default number of turns after which earlier ones become a summary.
const COMPACT_EVERY: u32 = 10;
/// Number of latest turns that stay unchanged next to a summary.
const KEEP_RECENT_TURNS: usize = 6;

/// A stored message. It has real names, which are redacted when it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    pub role: Role,
    pub content: String,
    /// Hashes of the data parts that were sent with it. The data is not stored: it is rebuilt from the trace, at the
    /// level that is allowed then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<String>,
}

/// A conversation; its serialized form is its file. It has neither keys nor system texts: both are set anew each time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Conversation {
    pub(super) format: String,
    pub(super) version: u32,
    /// The provider of the last answer, and its model.
    pub provider: String,
    pub model: String,
    /// The highest level of data that was sent.
    pub(super) share: String,
    pub(super) compact_every: u32,
    pub(super) keep_recent_turns: usize,
    /// File with all turns, next to the conversation file; `None` for a conversation without a file.
    #[serde(rename = "history_path")]
    pub(super) history: Option<String>,
    /// Number of answered questions.
    #[serde(rename = "turn_count")]
    pub turns: u64,
    pub(super) messages: Vec<Kept>,
    /// Names in the messages: they would be unknown for another trace.
    pub(super) names: Vec<KnownName>,
    #[serde(skip)]
    pub(super) path: Option<PathBuf>,
    /// Hash of the file's bytes when it was last read or written.
    #[serde(skip)]
    pub(super) before: String,
}

/// A question and its answer.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    pub question: Remembered,
    pub answer: Remembered,
    /// Hashes of the data parts that were sent with the question.
    pub shared: Vec<String>,
    /// The time of the turn, for the history.
    pub time: Option<String>,
}

impl Conversation {
    /// Makes a conversation without turns and without a file.
    pub fn new() -> Self {
        Self {
            format: super::file::FORMAT.to_owned(),
            version: super::file::VERSION,
            provider: String::new(),
            model: String::new(),
            share: Share::Figures.word().to_owned(),
            compact_every: COMPACT_EVERY,
            keep_recent_turns: KEEP_RECENT_TURNS,
            history: None,
            turns: 0,
            messages: Vec::new(),
            names: Vec::new(),
            path: None,
            before: String::new(),
        }
    }

    /// The earlier messages for the next request, without their data.
    pub fn messages(&self) -> Vec<Message> {
        let message = |kept: &Kept| Message { role: kept.role, text: kept.content.clone() };
        self.messages.iter().map(message).collect()
    }

    /// The stored earlier messages.
    pub fn kept(&self) -> &[Kept] {
        &self.messages
    }

    /// Names that must be known before the messages are sent.
    pub fn names(&self) -> &[KnownName] {
        &self.names
    }

    /// The highest level of data that was sent.
    pub fn share(&self) -> Share {
        Share::of_word(&self.share).unwrap_or(Share::Source)
    }

    /// Sets the provider and model, and the level of data.
    pub(crate) fn held_with(&mut self, provider: &str, model: &str, share: Share) {
        provider.clone_into(&mut self.provider);
        model.clone_into(&mut self.model);
        self.share = self.share().max(share).word().to_owned();
    }

    /// File with all turns, if any.
    pub fn history(&self) -> Option<PathBuf> {
        let directory = self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        self.history.as_ref().map(|name| directory.join(name))
    }

    /// Adds a question with its answer, and writes both to the history. Replaces earlier turns by a summary when due;
    /// `summarize` gets their messages. Returns warnings. An unanswered question is not part of the conversation, so
    /// nothing has to be removed.
    pub fn answered(
        &mut self,
        turn: Turn,
        summarize: &mut dyn FnMut(&[Message]) -> Result<Remembered, LlmError>,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        self.turns += 1;
        let question = Kept { role: Role::User, content: turn.question.text, shared: turn.shared };
        let answer = Kept { role: Role::Assistant, content: turn.answer.text, shared: Vec::new() };
        if let Some(path) = self.history()
            && let Err(error) = archive::append(&path, &[&question, &answer], self.turns, turn.time.as_deref())
        {
            warnings.push(format!("cannot append to the history {}: {error}", path.display()));
        }
        self.messages.extend([question, answer]);
        self.know(turn.question.names);
        self.know(turn.answer.names);
        if self.turns.is_multiple_of(u64::from(self.compact_every.max(1)))
            && let Err(error) = self.compact(summarize)
        {
            warnings.push(format!("the earlier turns are not summed up: {error}"));
        }
        warnings
    }

    /// Replaces all but the last turns by a summary. If the summary fails, they stay.
    fn compact(
        &mut self,
        summarize: &mut dyn FnMut(&[Message]) -> Result<Remembered, LlmError>,
    ) -> Result<(), LlmError> {
        let first = self.messages.len().saturating_sub(self.keep_recent_turns.saturating_mul(2));
        let mut old = self.messages();
        old.truncate(first);
        if old.is_empty() {
            return Ok(());
        }
        let summary = summarize(&old)?;
        let kept = |role, content| Kept { role, content, shared: Vec::new() };
        let mut messages = vec![
            kept(Role::User, SUMMARIZED.trim().to_owned()),
            kept(Role::Assistant, format!("{LABEL}{}", summary.text)),
        ];
        messages.extend(self.messages.iter().skip(first).cloned());
        self.messages = messages;
        self.know(summary.names);
        Ok(())
    }

    fn know(&mut self, names: Vec<KnownName>) {
        for name in names {
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }
}

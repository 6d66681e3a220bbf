//! Language models: what is sent to them, how, and how far an answer can be believed.
//!
//! Everything that leaves goes through [`Gate`], which takes out what must stay, records what is sent, and refuses to send
//! anything where that is not wanted.

mod address;
mod answer;
mod chain;
mod conversation;
mod environment;
mod error;
mod gate;
mod grounding;
mod guide;
mod keys;
mod models;
mod narrative;
mod payload;
mod prompt;
mod providers;
mod redaction;
mod request;
mod section;
mod settings;
mod transport;
mod usage;

#[cfg(test)]
mod tests;

pub(crate) use chain::{Event, Listener, ask_chain};
pub(crate) use environment::Variables;
pub(crate) use error::LlmError;
pub(crate) use gate::Gate;
pub(crate) use grounding::{CheckOwn, Grounding, RESULTS_SECTION};
pub(crate) use guide::{GuideContext, guide};
pub(crate) use models::model;
pub(crate) use narrative::{Kept, Narrator, Outcome};
pub(crate) use payload::{MaskOptions, Masking, Share, TableMask, strange_part};
pub(crate) use prompt::filled;
#[cfg(test)]
pub(crate) use redaction::Rules;
pub(crate) use redaction::{Redactor, TokenMap, pattern_with, statement_with};
pub(crate) use request::{Message, Reply, Request, Role, ToolCall, ToolResult, ToolSpec, Turn};
pub(crate) use section::{answer_section, shown_model};
pub(crate) use settings::LlmOptions;
pub(crate) use usage::Usage;

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

pub use chain::{Event, Listener, ask_chain};
pub use environment::Variables;
pub use error::LlmError;
pub use gate::Gate;
pub(crate) use grounding::{CheckOwn, Grounding, RESULTS_SECTION};
pub use guide::{GuideContext, guide};
pub use models::model;
pub use narrative::{Kept, Narrator, Outcome};
pub use payload::{MaskOptions, Share};
pub(crate) use payload::{Masking, TableMask, strange_part};
pub use prompt::filled;
#[cfg(test)]
pub use redaction::Rules;
pub use redaction::{Redactor, TokenMap};
pub(crate) use redaction::{pattern_with, statement_with};
pub use request::{Message, Reply, Request, Role, ToolCall, ToolResult, ToolSpec, Turn};
pub(crate) use section::answer_section;
pub use section::shown_model;
pub use settings::LlmOptions;
pub use usage::Usage;

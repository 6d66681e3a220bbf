//! Language models: requests, protocols, and checks of the answers.
//!
//! All outgoing data passes through [`Gate`]. It redacts private data, records requests, and does not send anything if
//! sending is forbidden.

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

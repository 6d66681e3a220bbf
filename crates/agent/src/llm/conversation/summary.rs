//! A summary that replaces earlier turns.

use crate::llm::chain::{Listener, ask_chain};
use crate::llm::error::LlmError;
use crate::llm::gate::Gate;
use crate::llm::request::{Message, Reply, Request, Role};
use crate::llm::settings::Endpoint;

const SUMMARIZE: &str = data!("templates/llm/summarize.md");
/// The question that a summary answers when it replaces the turns.
pub(super) const SUMMARIZED: &str = data!("templates/llm/summarized.md");
pub(super) const LABEL: &str = "[Session summary] ";
const TOKENS: u32 = 600;

/// Requests a summary of messages, without streaming and without thinking.
pub fn summary(
    gate: &Gate,
    endpoints: &[Endpoint],
    listener: &dyn Listener,
    old: &[Message],
) -> Result<Reply, LlmError> {
    let mut messages = old.to_vec();
    messages.push(Message { role: Role::User, text: SUMMARIZE.trim().to_owned() });
    let mut endpoints = endpoints.to_vec();
    for endpoint in &mut endpoints {
        endpoint.is_streaming = false;
        endpoint.thinking = None;
    }
    let request = Request { messages, max_tokens: Some(TOKENS), ..Request::default() };
    ask_chain(gate, &endpoints, &request, listener)
}

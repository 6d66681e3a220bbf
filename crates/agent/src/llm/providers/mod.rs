//! The protocols of providers.

mod anthropic;
mod by_text;
mod calls;
mod claude_code;
mod exchange;
mod openai;

use super::chain::Listener;
use super::error::LlmError;
use super::gate::Gate;
use super::models::Protocol;
use super::request::{Reply, Request};
use super::settings::Endpoint;

pub fn ask(gate: &Gate, endpoint: &Endpoint, request: &Request, listener: &dyn Listener) -> Result<Reply, LlmError> {
    let mut send = |request: &Request| match endpoint.provider.protocol {
        Protocol::Anthropic => anthropic::ask(gate, endpoint, request, listener),
        Protocol::Openai => openai::ask(gate, endpoint, request, listener),
        Protocol::Program => claude_code::ask(gate, endpoint, request, listener),
    };
    if request.is_by_text && !request.tools.is_empty() {
        return by_text::ask(gate, request, &mut send);
    }
    let mut reply = send(request)?;
    by_text::take_spoken(&mut reply, request);
    Ok(reply)
}

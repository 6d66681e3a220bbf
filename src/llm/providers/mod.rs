//! The protocols of providers.

mod anthropic;
mod claude_code;
mod exchange;
mod openai;

use super::chain::Listener;
use super::error::LlmError;
use super::gate::Gate;
use super::models::Protocol;
use super::request::{Reply, Request};
use super::settings::Endpoint;

/// The answer of a provider.
///
/// # Errors
/// When there is none.
pub(crate) fn ask(
    gate: &Gate,
    endpoint: &Endpoint,
    request: &Request,
    listener: &dyn Listener,
) -> Result<Reply, LlmError> {
    match endpoint.provider.protocol {
        Protocol::Anthropic => anthropic::ask(gate, endpoint, request, listener),
        Protocol::Openai => openai::ask(gate, endpoint, request, listener),
        Protocol::Program => claude_code::ask(gate, endpoint, request, listener),
    }
}

//! Asks providers one after the other until one answers.

use std::time::Duration;

use super::error::LlmError;
use super::gate::Gate;
use super::providers::ask;
use super::request::{Reply, Request};
use super::settings::Endpoint;

/// An event while an answer is pending.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A provider is asked.
    Asking { provider: &'a str, model: &'a str },
    /// A part of the answer arrived.
    Text(&'a str),
    /// The next attempt follows after a pause.
    Waiting { provider: &'a str, time: Duration, reason: &'a str },
    /// The next provider of the chain is asked.
    MovedOn { error: &'a LlmError, next: &'a str },
}

/// Receives events.
pub trait Listener {
    fn hear(&self, event: Event<'_>);
}

/// A listener that ignores all events.
impl Listener for () {
    fn hear(&self, _event: Event<'_>) {}
}

/// The first answer of a provider. The next provider is asked if one is busy, failing or unreachable, or does not have
/// the model, but not if it rejects the key or the request.
///
/// # Errors
/// The error of the only provider, or [`LlmError::Exhausted`] with the errors of all.
pub fn ask_chain(
    gate: &Gate,
    endpoints: &[Endpoint],
    request: &Request,
    listener: &dyn Listener,
) -> Result<Reply, LlmError> {
    let mut errors = Vec::new();
    for (place, endpoint) in endpoints.iter().enumerate() {
        listener.hear(Event::Asking { provider: &endpoint.provider.name, model: &endpoint.model });
        let error = match ask(gate, endpoint, request, listener) {
            Ok(reply) => return Ok(reply),
            Err(error) => error,
        };
        let next = endpoints.get(place + 1).filter(|_| error.moves_on());
        if let Some(next) = next {
            listener.hear(Event::MovedOn { error: &error, next: &next.provider.name });
            errors.push(error);
            continue;
        }
        if errors.is_empty() || !error.moves_on() {
            return Err(error);
        }
        errors.push(error);
    }
    Err(LlmError::Exhausted(errors))
}

//! Several questions and answers that build on one another.

use super::chain::{Listener, ask_chain};
use super::error::LlmError;
use super::gate::Gate;
use super::request::{Message, Reply, Request, Role};
use super::settings::Endpoint;

/// What was said so far; the system text is no part of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation {
    pub system: String,
    pub messages: Vec<Message>,
    /// Questions that were answered.
    pub turns: usize,
}

impl Conversation {
    /// Asks the next question. Where there is no answer, the question counts as not asked.
    ///
    /// # Errors
    /// When no provider answers.
    pub(crate) fn send(
        &mut self,
        gate: &Gate,
        endpoints: &[Endpoint],
        text: &str,
        listener: &dyn Listener,
    ) -> Result<Reply, LlmError> {
        let question = Message { role: Role::User, text: text.to_owned() };
        let messages: Vec<Message> = self.messages.iter().chain([&question]).cloned().collect();
        let request = Request { system: self.system.clone(), messages, ..Request::default() };
        let reply = ask_chain(gate, endpoints, &request, listener)?;
        self.messages.extend([question, Message { role: Role::Assistant, text: reply.text.clone() }]);
        self.turns += 1;
        Ok(reply)
    }
}

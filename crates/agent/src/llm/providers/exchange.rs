//! Common code of the HTTP protocols: turns the response of a server into an answer of a model.

use std::cell::RefCell;

use serde_json::Value;

use crate::llm::chain::{Event, Listener};
use crate::llm::error::LlmError;
use crate::llm::gate::{Gate, Receiver};
use crate::llm::request::{Reply, Request, ToolCall};
use crate::llm::settings::Endpoint;
use crate::llm::transport::{Answer, EventReader, HttpFailure};
use crate::llm::usage::Usage;
use wavesieve_engine::findings::shortened;

/// Maximum length of a server's text in a message.
const LONGEST_DETAIL: usize = 300;

/// A call whose parts may still arrive.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartOfCall {
    /// Its index in the answer, by which parts are joined.
    pub place: u64,
    pub call: ToolCall,
}

/// The parts of an answer so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub text: String,
    /// An answer by a schema, if it is separate from the text.
    pub structured: String,
    /// Tool calls.
    pub calls: Vec<PartOfCall>,
    /// The reason why the model stopped.
    pub finish: Option<String>,
    pub refusal: Option<String>,
    pub model: Option<String>,
    pub usage: Usage,
    /// Whether the end of the stream arrived.
    pub is_ended: bool,
    /// A failure reported within the stream: its kind and text.
    pub error: Option<(String, String)>,
}

impl Received {
    fn has_text(&self) -> bool {
        !self.text.is_empty() || !self.structured.is_empty()
    }

    fn answer(&self) -> &str {
        if self.structured.is_empty() { &self.text } else { &self.structured }
    }
}

/// How a protocol parses the data of a server.
pub struct Reading {
    /// Parses an event of a stream.
    pub event: fn(&mut Received, &Value),
    /// Parses a complete answer.
    pub whole: fn(&mut Received, &Value),
    /// The stop reason of a model that ran out of tokens.
    pub out_of_tokens: &'static str,
}

/// The outcome of an exchange.
pub(crate) enum Exchange {
    /// An answer, complete or not.
    Answered(Box<Received>, Option<HttpFailure>),
    /// The server rejects the request, with this status and text.
    Rejected(u16, String),
}

/// Sends a body and reads the response.
pub fn exchange(
    gate: &Gate,
    endpoint: &Endpoint,
    body: &Value,
    reading: &Reading,
    listener: &dyn Listener,
) -> Result<Exchange, LlmError> {
    let received = RefCell::new(Received::default());
    let events = RefCell::new(EventReader::default());
    let take = |data: &str| {
        let mut received = received.borrow_mut();
        if data.trim() == "[DONE]" {
            received.is_ended = true;
        } else if let Ok(value) = serde_json::from_str::<Value>(data) {
            let before = received.text.len();
            (reading.event)(&mut received, &value);
            let new = received.text.get(before..).unwrap_or_default().to_owned();
            drop(received);
            if !new.is_empty() {
                listener.hear(Event::Text(&new));
            }
        }
    };
    let provider = &endpoint.provider.name;
    let answer = gate.post(
        endpoint,
        body,
        Receiver {
            on_body: &mut |bytes| events.borrow_mut().feed(bytes, &mut |data| take(data)),
            has_text: &|| received.borrow().has_text(),
            on_wait: &mut |time, reason| {
                *received.borrow_mut() = Received::default();
                *events.borrow_mut() = EventReader::default();
                listener.hear(Event::Waiting { provider, time, reason });
            },
        },
    )?;
    if !(200..300).contains(&answer.status) {
        return rejected(endpoint, &answer);
    }
    events.borrow_mut().finish(&mut |data| take(data));
    let mut received = received.into_inner();
    if answer.is_events || received.has_text() || received.error.is_some() {
        if !received.is_ended && answer.cut.is_none() && received.finish.is_none() {
            let reason = "the stream ended before the answer".to_owned();
            return Ok(Exchange::Answered(Box::new(received), Some(HttpFailure::Connection(reason))));
        }
        return Ok(Exchange::Answered(Box::new(received), answer.cut));
    }
    if let Some(cut) = answer.cut {
        return Ok(Exchange::Answered(Box::new(received), Some(cut)));
    }
    let text = String::from_utf8_lossy(&answer.body);
    let Ok(value) = serde_json::from_str::<Value>(&text) else {
        let start = shortened(text.trim(), 80);
        let reason = if start.is_empty() { "it is empty".to_owned() } else { format!("it is not JSON: {start}") };
        return Err(LlmError::Reply { provider: provider.clone(), reason });
    };
    (reading.whole)(&mut received, &value);
    Ok(Exchange::Answered(Box::new(received), None))
}

fn rejected(endpoint: &Endpoint, answer: &Answer) -> Result<Exchange, LlmError> {
    let text = String::from_utf8_lossy(&answer.body);
    let value = serde_json::from_str::<Value>(&text).unwrap_or_default();
    let message = ["/error/message", "/message", "/detail", "/error"]
        .iter()
        .find_map(|path| value.pointer(path).and_then(Value::as_str))
        .unwrap_or(text.trim());
    let message = if message.is_empty() { "without a reason" } else { message };
    let detail = shortened(&endpoint.without_key(message), LONGEST_DETAIL);
    match answer.status {
        status @ (401 | 403) => Err(authentication(endpoint, Some(status), detail)),
        429 => Err(LlmError::RateLimit { provider: endpoint.provider.name.clone(), detail }),
        300..=399 => Ok(Exchange::Rejected(answer.status, "it leads elsewhere; correct its address".to_owned())),
        // The complete text, in which an unknown parameter is detected.
        status => Ok(Exchange::Rejected(status, if status == 400 { text.into_owned() } else { detail })),
    }
}

/// The provider rejects the key.
pub fn authentication(endpoint: &Endpoint, status: Option<u16>, detail: String) -> LlmError {
    LlmError::Authentication {
        provider: endpoint.provider.name.clone(),
        status,
        detail,
        variable: endpoint.key_variable.clone(),
    }
}

/// The error for a rejected request.
pub(crate) fn status_error(endpoint: &Endpoint, status: u16, text: &str) -> LlmError {
    let value = serde_json::from_str::<Value>(text).unwrap_or_default();
    let message = value.pointer("/error/message").and_then(Value::as_str).unwrap_or(text.trim());
    let detail = shortened(&endpoint.without_key(message), LONGEST_DETAIL);
    LlmError::Status { provider: endpoint.provider.name.clone(), status, detail }
}

/// The outcome of a received answer.
pub enum Verdict {
    Done(Reply),
    /// All tokens were used before any text was written.
    NoRoom(Usage),
}

/// Turns received data into an answer.
pub fn conclude(
    endpoint: &Endpoint,
    received: Box<Received>,
    cut: Option<HttpFailure>,
    reading: &Reading,
) -> Result<Verdict, LlmError> {
    let provider = endpoint.provider.name.clone();
    let is_out = received.finish.as_deref() == Some(reading.out_of_tokens);
    let text = received.answer().trim().to_owned();
    let failed = received.error.as_ref().map(|(kind, text)| (kind.clone(), endpoint.without_key(text)));
    let is_whole = failed.is_none() && cut.is_none();
    if !is_whole && !received.calls.is_empty() && !text.is_empty() {
        let reason = "it broke off while it called a tool".to_owned();
        return Err(LlmError::Reply { provider, reason });
    }
    if text.is_empty() && (received.calls.is_empty() || !is_whole) {
        return match (failed, cut) {
            (Some((kind, detail)), _) if kind.contains("rate_limit") => Err(LlmError::RateLimit { provider, detail }),
            (Some((kind, detail)), _) if kind.contains("authentication") || kind.contains("permission") => {
                Err(authentication(endpoint, None, detail))
            }
            (Some((kind, detail)), _) if kind.contains("overloaded") => {
                Err(LlmError::Status { provider, status: 529, detail })
            }
            (Some((_, reason)), _) => Err(LlmError::Reply { provider, reason }),
            (None, Some(HttpFailure::Timeout)) => Err(LlmError::Timeout { provider, seconds: endpoint.attempt_s }),
            (None, Some(HttpFailure::Connection(reason) | HttpFailure::Request(reason))) => {
                Err(LlmError::Reply { provider, reason: format!("it broke off: {reason}") })
            }
            (None, None) => match received.refusal {
                Some(text) => Err(LlmError::Refused { provider, text: shortened(&text, LONGEST_DETAIL) }),
                None if is_out => Ok(Verdict::NoRoom(received.usage)),
                None => {
                    let finish = received.finish.as_deref().unwrap_or("none");
                    Err(LlmError::Reply { provider, reason: format!("it has no text (finish reason: {finish})") })
                }
            },
        };
    }
    let mut warnings = Vec::new();
    // A call with a missing end is rejected when it is executed.
    if is_out && received.calls.is_empty() {
        warnings.push("the answer was cut at the token limit".to_owned());
    }
    if let Some(reason) = &received.refusal {
        warnings.push(format!("the model refused to go on: {}", shortened(reason, LONGEST_DETAIL)));
    }
    let broken = failed.map(|(_, text)| text).or(cut.as_ref().map(|cut| match cut {
        HttpFailure::Timeout => "it timed out".to_owned(),
        HttpFailure::Connection(reason) | HttpFailure::Request(reason) => reason.clone(),
    }));
    if let Some(reason) = &broken {
        warnings.push(format!("the answer broke off: {}", shortened(reason, LONGEST_DETAIL)));
    }
    Ok(Verdict::Done(Reply {
        text,
        model: received.model.unwrap_or_else(|| endpoint.model.clone()),
        provider,
        usage: received.usage,
        calls: received.calls.into_iter().map(|part| part.call).collect(),
        is_by_text: false,
        is_cut: is_out || broken.is_some() || received.refusal.is_some(),
        warnings,
    }))
}

/// Asks once. If there was no room for any text, asks once more with a shorter system text and more tokens. `send` gets
/// the system text and the number of tokens.
pub(crate) fn with_room(
    endpoint: &Endpoint,
    request: &Request,
    send: &mut dyn FnMut(&str, u32) -> Result<Verdict, LlmError>,
) -> Result<Reply, LlmError> {
    let first = match send(&request.system, request.max_tokens.unwrap_or(endpoint.provider.max_tokens))? {
        Verdict::Done(reply) => return Ok(reply),
        Verdict::NoRoom(usage) => usage,
    };
    let tokens = endpoint.provider.retry_tokens;
    match send(request.short_system.as_deref().unwrap_or(&request.system), tokens)? {
        Verdict::Done(mut reply) => {
            reply.usage += first;
            Ok(reply)
        }
        Verdict::NoRoom(_) => Err(LlmError::Budget { provider: endpoint.provider.name.clone(), tokens }),
    }
}

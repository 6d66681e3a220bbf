//! OpenAI's chat completions, for all servers that support them.

use std::cell::Cell;

use serde_json::{Value, json};

use super::by_text;
use super::calls::{add_parts, add_whole};
use super::exchange::{Exchange, Reading, Received, conclude, exchange, status_error, with_room};
use crate::llm::chain::Listener;
use crate::llm::error::LlmError;
use crate::llm::gate::Gate;
use crate::llm::models::model;
use crate::llm::request::{Reply, Request, Role};
use crate::llm::settings::Endpoint;

const READING: Reading = Reading { event: take_event, whole: take_whole, out_of_tokens: "length" };

/// The newer and the older name of the token limit.
const LIMITS: [&str; 2] = ["max_completion_tokens", "max_tokens"];

/// The fields that a server accepts.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// Whether it accepts the newer name of the limit.
    pub has_completion_tokens: bool,
    pub has_stream_options: bool,
    pub has_schema: bool,
}

impl Dialect {
    /// The dialect for the first attempt.
    pub fn new(endpoint: &Endpoint) -> Self {
        Self {
            has_completion_tokens: endpoint.provider.token_field.is_none(),
            has_stream_options: true,
            has_schema: model(&endpoint.model).json_schema,
        }
    }

    /// The dialect without the field of a server's complaint; `None` if it does not use that field.
    fn without(self, complaint: &str) -> Option<Self> {
        let names = |name: &str| complaint.contains(name);
        if self.has_completion_tokens && names("max_completion_tokens") {
            Some(Self { has_completion_tokens: false, ..self })
        } else if self.has_stream_options && names("stream_options") {
            Some(Self { has_stream_options: false, ..self })
        } else if self.has_schema && (names("response_format") || names("json_schema")) {
            Some(Self { has_schema: false, ..self })
        } else {
            None
        }
    }
}

pub fn ask(gate: &Gate, endpoint: &Endpoint, request: &Request, listener: &dyn Listener) -> Result<Reply, LlmError> {
    let mut dialect = Dialect::new(endpoint);
    let refuses_tools = Cell::new(false);
    let reply = with_room(endpoint, request, &mut |system, tokens| {
        loop {
            let body = body(endpoint, request, system, tokens, dialect);
            match exchange(gate, endpoint, &body, &READING, listener)? {
                Exchange::Answered(received, cut) => return conclude(endpoint, received, cut, &READING),
                Exchange::Rejected(status, text) => match dialect.without(&text).filter(|_| status == 400) {
                    Some(other) => dialect = other,
                    None => {
                        refuses_tools.set(!request.tools.is_empty() && text.to_lowercase().contains("tool"));
                        return Err(status_error(endpoint, status, &text));
                    }
                },
            }
        }
    });
    if refuses_tools.get() {
        return by_text::ask(gate, request, &mut |request| ask(gate, endpoint, request, listener));
    }
    reply
}

pub fn body(endpoint: &Endpoint, request: &Request, system: &str, tokens: u32, dialect: Dialect) -> Value {
    let mut messages = Vec::new();
    if !system.is_empty() {
        messages.push(json!({ "role": "system", "content": system }));
    }
    let told = request.messages.iter().map(|message| json!({ "role": message.role.word(), "content": message.text }));
    messages.extend(told);
    messages.extend(turns(request));
    let mut body = json!({ "model": endpoint.model, "messages": messages });
    let Some(fields) = body.as_object_mut() else { return body };
    let [newer, older] = LIMITS;
    let limit = if dialect.has_completion_tokens { newer } else { older };
    fields.insert(limit.to_owned(), Value::from(tokens));
    if let Some(schema) = request.schema.as_ref().filter(|_| dialect.has_schema) {
        let format =
            json!({ "type": "json_schema", "json_schema": { "name": "answer", "strict": true, "schema": schema } });
        fields.insert("response_format".to_owned(), format);
    }
    // A model that may not call any more does not see the tools: not every server can forbid calls.
    if !request.tools.is_empty() && request.closing.is_none() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
            json!({ "type": "function", "function": function })
        });
        fields.insert("tools".to_owned(), tools.collect());
    }
    if endpoint.is_streaming {
        fields.insert("stream".to_owned(), Value::Bool(true));
        if dialect.has_stream_options {
            fields.insert("stream_options".to_owned(), json!({ "include_usage": true }));
        }
    }
    body
}

/// The calls so far with their results, and the closing text.
fn turns(request: &Request) -> Vec<Value> {
    let mut messages = Vec::new();
    for turn in &request.turns {
        let calls = turn.calls.iter().map(|(call, _)| {
            // Some servers fail on arguments that are not JSON.
            let arguments = Value::Object(call.parsed().unwrap_or_default()).to_string();
            json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
        });
        let calls: Vec<Value> = calls.collect();
        messages.push(json!({ "role": Role::Assistant.word(), "content": turn.text, "tool_calls": calls }));
        let results = turn
            .calls
            .iter()
            .map(|(call, result)| json!({ "role": "tool", "tool_call_id": call.id, "content": result.text }));
        messages.extend(results);
    }
    messages.extend(request.closing.iter().map(|text| json!({ "role": Role::User.word(), "content": text })));
    messages
}

/// A text, or the joined texts of its parts.
fn text_of(content: Option<&Value>) -> Option<String> {
    match content? {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
            Some(texts.join("\n"))
        }
        _ => None,
    }
}

fn take_head(received: &mut Received, value: &Value) {
    if let Some(model) = value.get("model").and_then(Value::as_str) {
        received.model = Some(model.to_owned());
    }
    if let Some(usage) = value.get("usage") {
        received.usage.take_openai(usage);
    }
    if let Some(error) = value.get("error") {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let message = error.as_str().map_or_else(|| text("message"), ToOwned::to_owned);
        received.error = Some((format!("{} {}", text("type"), text("code")), message));
    }
    if let Some(reason) = value.pointer("/choices/0/finish_reason").and_then(Value::as_str) {
        received.finish = Some(reason.to_owned());
    }
}

fn take_whole(received: &mut Received, value: &Value) {
    take_head(received, value);
    received.text = text_of(value.pointer("/choices/0/message/content")).unwrap_or_default();
    received.refusal = text_of(value.pointer("/choices/0/message/refusal")).filter(|text| !text.is_empty());
    if let Some(calls) = value.pointer("/choices/0/message/tool_calls").and_then(Value::as_array) {
        add_whole(&mut received.calls, calls);
    }
    received.is_ended = true;
}

fn take_event(received: &mut Received, value: &Value) {
    take_head(received, value);
    if let Some(text) = text_of(value.pointer("/choices/0/delta/content")) {
        received.text.push_str(&text);
    }
    if let Some(parts) = value.pointer("/choices/0/delta/tool_calls").and_then(Value::as_array) {
        add_parts(&mut received.calls, parts);
    }
    if let Some(text) = text_of(value.pointer("/choices/0/delta/refusal")).filter(|text| !text.is_empty()) {
        received.refusal.get_or_insert_default().push_str(&text);
    }
}

//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::exchange::{Exchange, PartOfCall, Reading, Received, conclude, exchange, status_error, with_room};
use crate::llm::chain::Listener;
use crate::llm::error::LlmError;
use crate::llm::gate::Gate;
use crate::llm::models::model;
use crate::llm::request::{Reply, Request, Role, ToolCall};
use crate::llm::settings::Endpoint;

/// Name of the tool that makes an answer follow a schema.
const ANSWER: &str = "answer";

const READING: Reading = Reading { event: take_event, whole: take_whole, out_of_tokens: "max_tokens" };

pub fn ask(gate: &Gate, endpoint: &Endpoint, request: &Request, listener: &dyn Listener) -> Result<Reply, LlmError> {
    with_room(endpoint, request, &mut |system, tokens| match exchange(
        gate,
        endpoint,
        &body(endpoint, request, system, tokens),
        &READING,
        listener,
    )? {
        Exchange::Answered(received, cut) => conclude(endpoint, received, cut, &READING),
        Exchange::Rejected(status, text) => Err(status_error(endpoint, status, &text)),
    })
}

/// The body of a request. Thinking tokens count toward the limit, which must be larger than their maximum.
pub fn body(endpoint: &Endpoint, request: &Request, system: &str, tokens: u32) -> Value {
    let mut messages: Vec<Value> = request
        .messages
        .iter()
        .map(|message| json!({ "role": message.role.word(), "content": message.text }))
        .collect();
    messages.extend(turns(request));
    // The thoughts of a model would have to be sent back with the call, which redaction of their text prevents.
    let thinking = endpoint.thinking.filter(|_| request.tools.is_empty());
    let mut body = json!({
        "model": endpoint.provider.aliases.get(&endpoint.model).unwrap_or(&endpoint.model),
        "max_tokens": tokens.saturating_add(thinking.unwrap_or(0)),
        "messages": messages,
    });
    let Some(fields) = body.as_object_mut() else { return body };
    if !system.is_empty() {
        // The system text is the same for every trace, so a second request within minutes costs a tenth.
        let text = json!([{ "type": "text", "text": system, "cache_control": { "type": "ephemeral" } }]);
        fields.insert("system".to_owned(), text);
    }
    if let Some(tokens) = thinking {
        fields.insert("thinking".to_owned(), json!({ "type": "enabled", "budget_tokens": tokens }));
    }
    // A thinking model cannot be forced to use a tool.
    let schema = request.schema.as_ref().filter(|_| model(&endpoint.model).json_schema && endpoint.thinking.is_none());
    if let Some(schema) = schema {
        let tool = json!({ "name": ANSWER, "description": "Gives the answer.", "input_schema": schema });
        fields.insert("tools".to_owned(), json!([tool]));
        fields.insert("tool_choice".to_owned(), json!({ "type": "tool", "name": ANSWER }));
    }
    if !request.tools.is_empty() {
        let tools = request
            .tools
            .iter()
            .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema }));
        fields.insert("tools".to_owned(), tools.collect());
        if request.closing.is_some() {
            // Results of tools are only accepted together with the tools.
            fields.insert("tool_choice".to_owned(), json!({ "type": "none" }));
        }
    }
    if endpoint.is_streaming {
        fields.insert("stream".to_owned(), Value::Bool(true));
    }
    body
}

/// The calls so far with their results, and the closing text.
fn turns(request: &Request) -> Vec<Value> {
    let mut messages = Vec::new();
    let last = request.turns.len().saturating_sub(1);
    for (place, turn) in request.turns.iter().enumerate() {
        let is_last = place == last;
        let text = (!turn.text.is_empty()).then(|| json!({ "type": "text", "text": turn.text }));
        let calls = turn.calls.iter().map(|(call, _)| {
            let input = call.parsed().unwrap_or_default();
            json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
        });
        messages.push(
            json!({ "role": Role::Assistant.word(), "content": text.into_iter().chain(calls).collect::<Vec<_>>() }),
        );
        let mut results: Vec<Value> = turn
            .calls
            .iter()
            .map(|(call, result)| {
                json!({ "type": "tool_result", "tool_use_id": call.id, "content": result.text, "is_error": result.is_error })
            })
            .collect();
        if let Some(fields) = results.last_mut().filter(|_| is_last).and_then(Value::as_object_mut) {
            // Every step sends all earlier steps again.
            fields.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
        }
        results.extend(request.closing.iter().filter(|_| is_last).map(|text| json!({ "type": "text", "text": text })));
        messages.push(json!({ "role": Role::User.word(), "content": results }));
    }
    if let Some(text) = request.closing.as_ref().filter(|_| request.turns.is_empty()) {
        messages.push(json!({ "role": Role::User.word(), "content": text }));
    }
    messages
}

fn take_whole(received: &mut Received, value: &Value) {
    take_message(received, value);
    let blocks = value.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut texts = Vec::new();
    for block in blocks {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => texts.extend(block.get("text").and_then(Value::as_str)),
            Some("tool_use") => match called(block) {
                Some(call) => {
                    let place = received.calls.len() as u64;
                    received.calls.push(PartOfCall { place, call });
                }
                None => {
                    if let Some(input) = block.get("input") {
                        received.structured = input.to_string();
                    }
                }
            },
            _ => {}
        }
    }
    received.text = texts.join("\n");
    take_finish(received, value.get("stop_reason"));
    take_error(received, value);
    received.is_ended = true;
}

/// The call of a block; `None` if the block is the answer by a schema.
fn called(block: &Value) -> Option<ToolCall> {
    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_written = |input: &&Value| input.as_object().is_some_and(|fields| !fields.is_empty());
    let arguments = block.get("input").filter(is_written).map(ToString::to_string).unwrap_or_default();
    Some(ToolCall { id: text("id"), name: text("name"), arguments }).filter(|call| call.name != ANSWER)
}

fn take_message(received: &mut Received, value: &Value) {
    if let Some(model) = value.get("model").and_then(Value::as_str) {
        received.model = Some(model.to_owned());
    }
    if let Some(usage) = value.get("usage") {
        received.usage.take_anthropic(usage);
    }
}

fn take_finish(received: &mut Received, reason: Option<&Value>) {
    if let Some(reason) = reason.and_then(Value::as_str) {
        received.finish = Some(reason.to_owned());
        if reason == "refusal" {
            received.refusal = Some("it stopped for reasons of safety".to_owned());
        }
    }
}

fn take_error(received: &mut Received, value: &Value) {
    if let Some(error) = value.get("error") {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        received.error = Some((text("type"), text("message")));
    }
}

fn take_event(received: &mut Received, value: &Value) {
    match value.get("type").and_then(Value::as_str) {
        Some("message_start") => {
            if let Some(message) = value.get("message") {
                take_message(received, message);
            }
        }
        Some("content_block_start") => {
            let is_text = value.pointer("/content_block/type").and_then(Value::as_str) == Some("text");
            if is_text && !received.text.is_empty() {
                received.text.push('\n');
            }
            let block = value.get("content_block");
            let block = block.filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use"));
            if let Some(call) = block.and_then(called) {
                received.calls.push(PartOfCall { place: place(value), call });
            }
        }
        Some("content_block_delta") => {
            let part = |path: &str| value.pointer(path).and_then(Value::as_str);
            received.text.push_str(part("/delta/text").unwrap_or_default());
            let json = part("/delta/partial_json").unwrap_or_default();
            let place = place(value);
            match received.calls.iter_mut().find(|part| part.place == place) {
                Some(part) => part.call.arguments.push_str(json),
                None => received.structured.push_str(json),
            }
        }
        Some("message_delta") => {
            take_finish(received, value.pointer("/delta/stop_reason"));
            if let Some(usage) = value.get("usage") {
                received.usage.take_anthropic(usage);
            }
        }
        Some("message_stop") => received.is_ended = true,
        Some("error") => take_error(received, value),
        _ => {}
    }
}

/// The index of an event's block.
fn place(value: &Value) -> u64 {
    value.get("index").and_then(Value::as_u64).unwrap_or(0)
}

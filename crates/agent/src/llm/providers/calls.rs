//! Tool calls in chat completions, in the variants of different servers: in parts or at once, arguments as text or as
//! an object, with or without ids.

use serde_json::Value;

use super::exchange::PartOfCall;
use crate::llm::request::ToolCall;

/// Adds complete calls.
pub fn add_whole(calls: &mut Vec<PartOfCall>, whole: &[Value]) {
    for value in whole {
        let place = calls.len() as u64;
        calls.push(PartOfCall { place, call: call(value) });
    }
}

/// Adds parts of calls. A part belongs to the call of its index, unless another call started there: some servers use
/// the same index for all calls.
pub fn add_parts(calls: &mut Vec<PartOfCall>, parts: &[Value]) {
    for (at, value) in parts.iter().enumerate() {
        let place = value.get("index").and_then(Value::as_u64).unwrap_or(at as u64);
        let part = call(value);
        match calls.iter_mut().rev().find(|known| known.place == place && !begins_another(&known.call, &part)) {
            Some(known) => {
                let known = &mut known.call;
                if known.id.is_empty() {
                    known.id = part.id;
                }
                if known.name.is_empty() {
                    known.name = part.name;
                }
                known.arguments.push_str(&part.arguments);
            }
            None => calls.push(PartOfCall { place, call: part }),
        }
    }
}

/// Returns whether a part belongs to another call than the known one.
fn begins_another(known: &ToolCall, part: &ToolCall) -> bool {
    let has_other_id = !part.id.is_empty() && !known.id.is_empty() && part.id != known.id;
    let has_own_id = !part.id.is_empty() && part.id == known.id;
    let is_complete = !known.arguments.trim().is_empty() && known.parsed().is_some();
    has_other_id || !has_own_id && !part.name.is_empty() && is_complete
}

fn call(value: &Value) -> ToolCall {
    let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = match value.pointer("/function/arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(other) if !other.is_null() => other.to_string(),
        _ => String::new(),
    };
    ToolCall { id: text("/id"), name: text("/function/name"), arguments }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(chunks: &[Value]) -> Vec<(String, String, String)> {
        let mut calls = Vec::new();
        for chunk in chunks {
            add_parts(&mut calls, chunk.as_array().unwrap());
        }
        calls.into_iter().map(|part| (part.call.id, part.call.name, part.call.arguments)).collect()
    }

    fn owned(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn parts_of_two_calls_are_put_together() {
        let chunks = [
            json!([{"index": 0, "id": "a", "function": {"name": "table", "arguments": ""}}]),
            json!([{"index": 0, "function": {"arguments": "{\"query\":"}}]),
            json!([{"index": 1, "id": "b", "function": {"name": "info", "arguments": "{}"}}]),
            json!([{"index": 0, "function": {"arguments": " \"top\"}"}}]),
        ];
        assert_eq!(shown(&chunks), [owned("a", "table", "{\"query\": \"top\"}"), owned("b", "info", "{}")]);
    }

    /// Ollama sends calls at once, with objects, sometimes without ids and all with the same index.
    #[test]
    fn calls_at_once_are_kept_apart() {
        let chunks = [
            json!([{"index": 0, "function": {"name": "info", "arguments": {}}}]),
            json!([{"index": 0, "function": {"name": "table", "arguments": {"query": "top"}}}]),
        ];
        assert_eq!(shown(&chunks), [owned("", "info", "{}"), owned("", "table", "{\"query\":\"top\"}")]);
        let both =
            [json!([{"function": {"name": "a", "arguments": "{}"}}, {"function": {"name": "b", "arguments": "{}"}}])];
        assert_eq!(shown(&both), [owned("", "a", "{}"), owned("", "b", "{}")]);
        let ids = [
            json!([{"index": 0, "id": "x", "function": {"name": "a", "arguments": "{"}}]),
            json!([{"index": 0, "id": "x", "function": {"name": "a", "arguments": "}"}}]),
            json!([{"index": 0, "id": "y", "function": {"name": "a", "arguments": "{}"}}]),
        ];
        assert_eq!(shown(&ids), [owned("x", "a", "{}"), owned("y", "a", "{}")]);
    }
}

//! Tools for models and servers without tool support: calls and results are texts.

use minijinja::{Environment, context};
use serde_json::{Map, Value};

use crate::llm::answer::without_fence;
use crate::llm::error::LlmError;
use crate::llm::gate::Gate;
use crate::llm::request::{Message, Reply, Request, Role, ToolCall};

const INSTRUCTIONS: &str = data!("templates/llm/by_text.md");

/// The JSON of a model.
enum Spoken {
    Call(ToolCall),
    Answer(String),
}

/// Asks with tools as texts.
pub fn ask(
    gate: &Gate,
    request: &Request,
    send: &mut dyn FnMut(&Request) -> Result<Reply, LlmError>,
) -> Result<Reply, LlmError> {
    let mut reply = send(&plain(gate, request)?)?;
    take_spoken(&mut reply, request);
    reply.is_by_text = true;
    Ok(reply)
}

/// Takes a call, or an answer, in JSON form out of the text of a reply. Small models write such JSON even if they could
/// make calls.
pub(crate) fn take_spoken(reply: &mut Reply, request: &Request) {
    if request.tools.is_empty() || !reply.calls.is_empty() {
        return;
    }
    match spoken(&reply.text, request) {
        Some(Spoken::Call(call)) => {
            reply.text.clear();
            reply.calls.push(call);
        }
        Some(Spoken::Answer(text)) => reply.text = text,
        None => {}
    }
}

/// The request without tools: descriptions and earlier calls become text.
fn plain(gate: &Gate, request: &Request) -> Result<Request, LlmError> {
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| serde_json::json!({ "tool": tool.name, "description": tool.description, "arguments": tool.schema }))
        .collect();
    let lines: Vec<String> = tools.iter().map(ToString::to_string).collect();
    let described = Environment::new().render_str(INSTRUCTIONS, context! { tools => lines });
    let described = described.map_err(|error| LlmError::Internal(format!("templates/llm/by_text.md: {error}")))?;
    let with_tools = |system: &String| format!("{system}\n\n{}", described.trim());
    let mut messages = request.messages.clone();
    for turn in &request.turns {
        for (call, result) in &turn.calls {
            let arguments = call.parsed().unwrap_or_default();
            let told = serde_json::json!({ "tool": call.name, "arguments": arguments }).to_string();
            let kind = if result.is_error { "Error" } else { "Result" };
            // A tool name that is not offered is a word of the model.
            let name = request.tools.iter().find(|tool| tool.name == call.name).map_or("the call", |tool| &tool.name);
            let back = format!("{kind} of {name}:\n{}", result.text);
            let mut redactor = gate.redactor().borrow_mut();
            redactor.returns(&told);
            redactor.returns_in(&result.text, &back);
            messages.push(Message { role: Role::Assistant, text: told });
            messages.push(Message { role: Role::User, text: back });
        }
    }
    messages.extend(request.closing.iter().map(|text| Message { role: Role::User, text: text.clone() }));
    Ok(Request {
        system: with_tools(&request.system),
        short_system: request.short_system.as_ref().map(with_tools),
        messages,
        ..Request::default()
    })
}

/// The first object in a text that is a tool call or an answer.
fn spoken(text: &str, request: &Request) -> Option<Spoken> {
    let text = without_fence(text);
    let objects = text.match_indices('{').filter_map(|(start, _)| {
        let rest = text.get(start..)?;
        serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>().next()?.ok()
    });
    objects.filter_map(|object| of_object(&object, request)).next()
}

fn of_object(object: &Map<String, Value>, request: &Request) -> Option<Spoken> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    if let Some(answer) = object.get("answer") {
        return Some(Spoken::Answer(answer.as_str().map_or_else(|| answer.to_string(), ToOwned::to_owned)));
    }
    // Models that are trained for calls use `name`, and some of them `arguments`.
    let (name, is_certain) = text("tool").map(|name| (name, true)).or(text("name").map(|name| (name, false)))?;
    let is_offered = request.tools.iter().any(|tool| tool.name == name);
    if request.closing.is_some() || !(is_certain || is_offered) {
        return None;
    }
    let arguments = match object.get("arguments").or(object.get("parameters")) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    Some(Spoken::Call(ToolCall { id: String::new(), name: name.to_owned(), arguments }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::llm::gate::GateOptions;
    use crate::llm::payload::Share;
    use crate::llm::redaction::{Redactor, Rules, TokenMap};
    use crate::llm::request::{ToolResult, ToolSpec, Turn};

    fn request() -> Request {
        let tool = ToolSpec { name: "table".to_owned(), description: "Run.".to_owned(), schema: json!({}) };
        Request { tools: vec![tool], ..Request::default() }
    }

    fn taken(text: &str, request: &Request) -> (String, Vec<(String, String)>) {
        let mut reply = Reply { text: text.to_owned(), ..Reply::default() };
        take_spoken(&mut reply, request);
        (reply.text, reply.calls.into_iter().map(|call| (call.name, call.arguments)).collect())
    }

    #[test]
    fn calls_and_answers_are_found_in_texts() {
        let call = |name: &str, arguments: &str| (String::new(), vec![(name.to_owned(), arguments.to_owned())]);
        let request = request();
        for text in [
            r#"{"tool":"table","arguments":{"query":"top"}}"#,
            "```json\n{\"tool\": \"table\", \"arguments\": {\"query\":\"top\"}}\n```",
            r#"I look at {it}: {"name": "table", "parameters": {"query":"top"}} now"#,
        ] {
            assert_eq!(taken(text, &request), call("table", r#"{"query":"top"}"#), "{text}");
        }
        assert_eq!(taken(r#"{"tool": "rm"}"#, &request), call("rm", ""));
        assert_eq!(taken(r#"{"answer": "42 ms"}"#, &request), ("42 ms".to_owned(), vec![]));
        assert_eq!(taken(r#"{"answer": 5}"#, &request), ("5".to_owned(), vec![]));
        for text in [r#"{"name": "gemm"}"#, "{", "", "The answer is {42}."] {
            assert_eq!(taken(text, &request), (text.to_owned(), vec![]));
        }
        let closed = Request { closing: Some("Answer.".to_owned()), ..request };
        let text = r#"{"tool": "table"}"#;
        assert_eq!(taken(text, &closed), (text.to_owned(), vec![]));
    }

    /// A guess of the model that came back as a token would be confirmed, also in the text of a message.
    #[test]
    fn messages_of_texts_that_go_back_do_so_too() {
        let mut names = TokenMap::default();
        names.name("KERNEL", "zebra_gemm");
        let redactor = Redactor::new(Rules::new(Share::Figures, None).unwrap(), names);
        let gate = Gate::new(GateOptions::default(), redactor);
        let arguments = r#"{"query":"SELECT 'zebra_gemm'"}"#.to_owned();
        let call = ToolCall { id: String::new(), name: "sql".to_owned(), arguments };
        let result = ToolResult { text: r#"{"rows":[["zebra_gemm"]]}"#.to_owned(), is_error: false };
        let unknown = ToolResult { text: "zebra_gemm waits".to_owned(), is_error: false };
        for text in [&call.arguments, &result.text] {
            gate.redactor().borrow_mut().returns(text);
        }
        let calls = vec![(call.clone(), result), (call, unknown)];
        let request = Request { turns: vec![Turn { text: String::new(), calls }], ..request() };
        let messages: Vec<String> =
            plain(&gate, &request).unwrap().messages.into_iter().map(|message| message.text).collect();
        let bytes = gate.redactor().borrow_mut().bytes(json!({ "messages": messages }).to_string().as_bytes());
        let sent: Value = serde_json::from_slice(&bytes).unwrap();
        let sent: Vec<&str> = sent["messages"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        assert_eq!(sent[..3], messages[..3]);
        assert_eq!(sent[3], "Result of the call:\n[KERNEL_1] waits");
    }
}

//! Calls of tools in every protocol: whole and in streams, and as text for models without tools.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::{INPUT, ask, ask_provider, bodies, call, message, results, says};
use crate::common::{finish, program};
use crate::models::Server;

const QUESTION: &str = "which kernel takes most time?";
const FINAL: &str = "[KERNEL_1] with 24 calls.";

fn is_answered(run: &crate::common::Run) {
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains(r#"table {"query":"kernel_summary","top":1}: 1 row"#), "{}", run.stderr);
    assert!(run.stdout.contains("with 24 calls.") && !run.stdout.contains("[?]"), "{}", run.stdout);
}

fn events(data: &[Value]) -> (u16, String) {
    (200, data.iter().map(|data| format!("data: {data}\n\n")).collect::<String>())
}

#[test]
fn anthropic_calls_whole_and_in_streams() {
    let whole = json!({"model": "claude-t", "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 7}, "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "table", "input": {"query": "kernel_summary", "top": 1}},
        {"type": "tool_use", "id": "toolu_2", "name": "info", "input": {}}]});
    let last = json!({"model": "claude-t", "stop_reason": "end_turn", "content": [{"type": "text", "text": FINAL}]});
    let stream = events(&[
        json!({"type": "message_start", "message": {"model": "claude-t", "usage": {"input_tokens": 5}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "table", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"query\": \"kernel_su"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "mmary\", \"top\": 1}"}}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_2", "name": "info", "input": {}}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]);
    for first in [(200, whole.to_string()), stream] {
        let server = Server::new(vec![first, (200, last.to_string())]);
        let run = ask_provider("anthropic", &server, QUESTION, &[]);
        is_answered(&run);
        let bodies = bodies(&server);
        let tool = &bodies[0]["tools"][2];
        assert_eq!((&tool["name"], &tool["input_schema"]["type"]), (&json!("table"), &json!("object")));
        assert!(bodies[0]["system"][0]["cache_control"].is_object());
        let messages = bodies[1]["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 3);
        let calls = json!([{"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "table", "input": {"query": "kernel_summary", "top": 1}},
            {"type": "tool_use", "id": "toolu_2", "name": "info", "input": {}}]);
        assert_eq!((&messages[1]["role"], &messages[1]["content"]), (&json!("assistant"), &calls));
        let results = messages[2]["content"].as_array().unwrap();
        let ids: Vec<&str> = results.iter().map(|result| result["tool_use_id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["toolu_1", "toolu_2"]);
        assert!(results.iter().all(|result| result["type"] == "tool_result" && result["is_error"] == false));
    }
}

#[test]
fn chat_completions_call_in_streams() {
    let delta = |delta: Value| json!({"model": "tiny-1", "choices": [{"delta": delta, "finish_reason": null}]});
    let first = events(&[
        delta(
            json!({"role": "assistant", "content": null, "tool_calls": [{"index": 0, "id": "call_a", "type": "function", "function": {"name": "table", "arguments": ""}}]}),
        ),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"query\":\"kernel_"}}]})),
        delta(
            json!({"tool_calls": [{"index": 1, "id": "call_b", "type": "function", "function": {"name": "info", "arguments": "{}"}}]}),
        ),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "summary\",\"top\":1}"}}]})),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ]);
    for provider in ["openai", "local:tiny-1"] {
        let server = Server::new(vec![first.clone(), says(FINAL)]);
        is_answered(&ask_provider(provider, &server, QUESTION, &[]));
        let bodies = bodies(&server);
        assert_eq!(bodies[0]["tools"][2]["function"]["name"], "table");
        let messages = bodies[1]["messages"].as_array().unwrap();
        let calls = messages[2]["tool_calls"].as_array().unwrap();
        assert_eq!((&calls[0]["id"], &calls[1]["id"]), (&json!("call_a"), &json!("call_b")));
        assert_eq!((&messages[3]["tool_call_id"], &messages[4]["tool_call_id"]), (&json!("call_a"), &json!("call_b")));
        assert_eq!(results(&bodies[1]).len(), 2);
    }
}

/// Ollama sends calls at once, their arguments as objects, and without ids.
#[test]
fn calls_of_ollama() {
    let function = json!({"name": "table", "arguments": {"query": "kernel_summary", "top": 1}});
    let whole = message(&json!({"role": "assistant", "content": "", "tool_calls": [{"function": function}]}));
    let chunk = json!({"choices": [{"delta": {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}, "finish_reason": "tool_calls"}]});
    let written = says(r#"{"name": "table", "parameters": {"query": "kernel_summary", "top": 1}}"#);
    for first in [whole, events(&[chunk]), written] {
        let server = Server::new(vec![first, says(FINAL)]);
        is_answered(&ask(&server, QUESTION, &[]));
        let messages = bodies(&server)[1]["messages"].clone();
        assert_eq!(
            (&messages[2]["tool_calls"][0]["id"], &messages[3]["tool_call_id"]),
            (&json!("call_1_0"), &json!("call_1_0"))
        );
    }
}

#[test]
fn servers_without_tools_are_asked_in_text() {
    for refusal in [
        (
            400,
            json!({"error": {"message": "registry.ollama.ai/library/codellama:13b does not support tools"}})
                .to_string(),
        ),
        (
            400,
            json!({"object": "error", "message": "\"auto\" tool choice requires --enable-auto-tool-choice"})
                .to_string(),
        ),
    ] {
        let called = says(
            "I call it:\n```json\n{\"tool\": \"table\", \"arguments\": {\"query\": \"kernel_summary\", \"top\": 1}}\n```",
        );
        let server = Server::new(vec![refusal, called, says(&json!({"answer": FINAL}).to_string())]);
        is_answered(&ask(&server, QUESTION, &[]));
        let bodies = bodies(&server);
        // The tools are refused once, and not offered again.
        assert_eq!(bodies.len(), 3);
        assert!(
            bodies[0].get("tools").is_some() && bodies[1].get("tools").is_none() && bodies[2].get("tools").is_none()
        );
        let system = bodies[1]["messages"][0]["content"].as_str().unwrap();
        assert!(system.contains(r#"{"answer": "your answer"}"#) && system.contains(r#""tool":"sql""#), "{system}");
        let messages = bodies[2]["messages"].as_array().unwrap();
        assert_eq!(messages[2]["content"], r#"{"arguments":{"query":"kernel_summary","top":1},"tool":"table"}"#);
        assert!(messages[3]["content"].as_str().unwrap().starts_with("Result of table:\n{"));
    }
    // Other mistakes of a request do not concern the tools.
    let server = Server::new(vec![(400, json!({"error": {"message": "context too long"}}).to_string())]);
    let run = ask(&server, QUESTION, &[]);
    assert!(run.code == 1 && run.stderr.contains("context too long") && server.got().len() == 1, "{}", run.stderr);
}

#[test]
fn a_program_is_asked_in_text() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().display();
    let claude = directory.path().join("claude");
    let script = format!(
        "#!/bin/sh\nn=$(ls {place} | grep -c '^in')\ncat > {place}/in$n\ncp CLAUDE.md {place}/system$n\ncat {place}/out$n\n"
    );
    fs::write(&claude, script).unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let says = |text: &str| json!({"result": text, "is_error": false}).to_string();
    let called = json!({"tool": "table", "arguments": {"query": "kernel_summary", "top": 1}}).to_string();
    fs::write(directory.path().join("out0"), says(&called)).unwrap();
    fs::write(directory.path().join("out1"), says(&json!({"answer": FINAL}).to_string())).unwrap();
    let path = format!("{place}:{}", std::env::var("PATH").unwrap());
    let mut command = program(&["ask", QUESTION, INPUT, "--llm", "claude-code"]);
    command.env("PATH", path).env_remove("ANTHROPIC_API_KEY");
    is_answered(&finish(command));
    let told = fs::read_to_string(directory.path().join("in1")).unwrap();
    assert!(told.contains("Result of table:") && !told.contains("ncclDevKernel"), "{told}");
    assert!(fs::read_to_string(directory.path().join("system0")).unwrap().contains("one JSON object"));
}

#[test]
fn a_model_that_may_call_no_more_is_told_so() {
    let table = || call("table", &json!({"query": "kernel_summary", "top": 1}));
    let server = Server::new(vec![table(), says(FINAL)]);
    is_answered(&ask(&server, QUESTION, &["--steps", "1"]));
    let last = &bodies(&server)[1];
    assert!(last.get("tools").is_none(), "{last}");
    let messages = last["messages"].as_array().unwrap();
    assert!(messages.last().unwrap()["content"].as_str().unwrap().starts_with("You may call no more tools"));

    let block =
        json!({"type": "tool_use", "id": "toolu_1", "name": "table", "input": {"query": "kernel_summary", "top": 1}});
    let first = json!({"content": [block], "stop_reason": "tool_use"});
    let last = json!({"content": [{"type": "text", "text": FINAL}], "stop_reason": "end_turn"});
    let server = Server::new(vec![(200, first.to_string()), (200, last.to_string())]);
    is_answered(&ask_provider("anthropic", &server, QUESTION, &["--steps", "1"]));
    let last = &bodies(&server)[1];
    assert_eq!(last["tool_choice"], json!({"type": "none"}));
    assert!(last["tools"].is_array() && last["messages"][2]["content"][1]["text"].is_string(), "{last}");

    // A model that calls nevertheless has not answered.
    let server = Server::new(vec![table()]);
    let run = ask(&server, QUESTION, &["--steps", "2"]);
    assert_eq!((run.code, server.got().len()), (1, 3), "{}", run.stderr);
    assert!(run.stderr.contains("instead of answering; raise --steps"), "{}", run.stderr);
}

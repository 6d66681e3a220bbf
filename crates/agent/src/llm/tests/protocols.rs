//! Requests to each provider, and the handling of their answers: rows of A1.2, facts 23 and 24.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::privacy::options;
use super::server::{Answer, Server};
use crate::llm::chain::{Event, Listener, ask_chain};
use crate::llm::environment::Variables;
use crate::llm::error::LlmError;
use crate::llm::gate::{Gate, GateOptions};
use crate::llm::payload::Share;
use crate::llm::redaction::{Redactor, Rules, TokenMap};
use crate::llm::request::{Message, Reply, Request, Role};
use crate::llm::settings::{LlmOptions, endpoints};
use crate::llm::usage::Usage;

/// Collects the parts of an answer as they arrive.
#[derive(Default)]
pub(super) struct Parts(pub RefCell<Vec<String>>);

impl Listener for Parts {
    fn hear(&self, event: Event<'_>) {
        if let Event::Text(text) = event {
            self.0.borrow_mut().push(text.to_owned());
        }
    }
}

pub(super) fn gate() -> Gate {
    Gate::new(GateOptions::default(), Redactor::new(Rules::new(Share::Figures, None).unwrap(), TokenMap::default()))
}

pub(super) fn question() -> Request {
    let messages = vec![Message { role: Role::User, text: "why?".to_owned() }];
    Request { system: "be brief".to_owned(), short_system: Some("short".to_owned()), messages, ..Request::default() }
}

pub(super) fn ask_with(
    provider: &str,
    server: &Server,
    variables: &[(&str, &str)],
    change: impl FnOnce(&mut LlmOptions),
) -> Result<Reply, LlmError> {
    let mut all = vec![
        ("ANTHROPIC_API_KEY", "sk-ant-test"),
        ("OPENAI_API_KEY", "sk-test"),
        ("WAVESIEVE_LLM_PRIVATE_MODEL", "big"),
    ];
    all.extend(variables);
    let variables = Variables::of_pairs(&all);
    let mut options = options(provider, server);
    change(&mut options);
    let (endpoints, _) = endpoints(&options, &variables)?;
    ask_chain(&gate(), &endpoints, &question(), &())
}

fn ask(provider: &str, server: &Server) -> Result<Reply, LlmError> {
    ask_with(provider, server, &[], |_| {})
}

fn message(text: &str) -> Value {
    json!({"model": "claude-x", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text},
        {"type": "text", "text": "more"}], "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 7}})
}

fn completion(text: Value, finish: &str) -> Value {
    json!({"model": "m", "choices": [{"message": {"content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7}})
}

#[test]
fn anthropic_gets_messages() {
    let server = Server::new(vec![Answer::json(&message("hello"))]);
    let reply = ask("anthropic", &server).unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_str()), ("hello\nmore", "claude-x"));
    assert_eq!(reply.usage, Usage { input: 5, output: 7, ..Usage::default() });
    let got = &server.got()[0];
    assert_eq!(got.line, "POST /v1/messages HTTP/1.1");
    assert_eq!(got.header("x-api-key"), Some("sk-ant-test"));
    assert_eq!(got.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(got.header("authorization"), None);
    let expected = json!({"model": "claude-sonnet-4-20250514", "max_tokens": 4096,
        "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": "why?"}]});
    assert_eq!(got.json(), expected);
}

#[test]
fn thinking_leaves_room_for_an_answer() {
    let server = Server::new(vec![Answer::json(&message("x"))]);
    ask_with("anthropic:claude-3-7-sonnet-latest", &server, &[], |options| options.thinking = Some(8000)).unwrap();
    let got = &server.got()[0];
    assert_eq!(got.header("anthropic-beta"), Some("thinking-2025-02-19"));
    let body = got.json();
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 8000}));
    assert!(body["max_tokens"].as_u64().unwrap() > 8000);
}

#[test]
fn servers_of_chat_completions_get_their_fields() {
    let rows: [(&str, &str, &str, &str, u64); 3] = [
        ("openai", "gpt-4-turbo-preview", "Bearer sk-test", "max_completion_tokens", 4096),
        ("private", "big", "Bearer dummy", "max_completion_tokens", 4096),
        ("local", "codellama:13b", "Bearer ignored", "max_tokens", 2048),
    ];
    for (provider, model, key, limit, tokens) in rows {
        let server = Server::new(vec![Answer::json(&completion(json!("fine"), "stop"))]);
        let reply = ask(provider, &server).unwrap();
        assert_eq!((reply.text.as_str(), reply.usage.input), ("fine", 5), "{provider}");
        let got = &server.got()[0];
        assert_eq!(got.line, "POST /chat/completions HTTP/1.1", "{provider}");
        assert_eq!(got.header("authorization"), Some(key), "{provider}");
        let mut expected = json!({"model": model, "messages": [{"role": "system", "content": "be brief"},
            {"role": "user", "content": "why?"}]});
        expected[limit] = Value::from(tokens);
        assert_eq!(got.json(), expected, "{provider}");
    }
}

/// Fact 24.
#[test]
fn the_older_limit_is_tried_once() {
    let refusal = r#"{"error": {"message": "max_completion_tokens not supported"}}"#;
    for provider in ["openai", "private"] {
        let server =
            Server::new(vec![Answer::status(400, refusal), Answer::json(&completion(json!("second"), "stop"))]);
        assert_eq!(ask(provider, &server).unwrap().text, "second");
        let got = server.got();
        assert_eq!(got.len(), 2, "{provider}");
        assert_eq!(got[1].json()["max_tokens"], 4096);
        assert_eq!(got[1].json().get("max_completion_tokens"), None);
    }
    let server = Server::new(vec![Answer::status(400, r#"{"error": {"message": "no such model"}}"#)]);
    let error = ask("openai", &server).unwrap_err();
    assert_eq!(server.got().len(), 1);
    assert!(matches!(&error, LlmError::Status { status: 400, detail, .. } if detail == "no such model"), "{error}");
}

#[test]
fn contents_of_all_kinds() {
    let parts = json!([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]);
    let server = Server::new(vec![Answer::json(&completion(parts, "stop"))]);
    assert_eq!(ask("openai", &server).unwrap().text, "a\nb");
    let server = Server::new(vec![Answer::json(&completion(json!("half"), "length"))]);
    let reply = ask("openai", &server).unwrap();
    assert!(reply.is_cut && reply.text == "half" && reply.warnings.len() == 1, "{reply:?}");
    let refusal =
        json!({"choices": [{"message": {"content": null, "refusal": "I will not"}, "finish_reason": "stop"}]});
    let server = Server::new(vec![Answer::json(&refusal)]);
    let error = ask("openai", &server).unwrap_err();
    assert!(matches!(&error, LlmError::Refused { text, .. } if text == "I will not"), "{error}");
    let server = Server::new(vec![Answer::json(&completion(json!(""), "content_filter"))]);
    assert!(ask("openai", &server).unwrap_err().to_string().contains("content_filter"));
}

#[test]
fn an_answer_without_room_is_asked_for_once_more() {
    let empty = Answer::json(&completion(json!(""), "length"));
    let server = Server::new(vec![empty.clone(), Answer::json(&completion(json!("now"), "stop"))]);
    assert_eq!(ask("openai", &server).unwrap().text, "now");
    let second = server.got()[1].json();
    assert_eq!(second["max_completion_tokens"], 16384);
    assert_eq!(second["messages"][0]["content"], "short");
    let server = Server::new(vec![empty]);
    let error = ask("openai", &server).unwrap_err();
    assert!(matches!(error, LlmError::Budget { tokens: 16384, .. }) && server.got().len() == 2, "{error}");
}

#[test]
fn streams_are_read_as_they_come() {
    let anthropic = Answer::events(&[
        r#"{"type":"message_start","message":{"model":"claude-y","usage":{"input_tokens":3}}}"#,
        r#"{"type":"content_block_start","content_block":{"type":"text"}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hello "}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"world"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let openai = Answer::events(&[
        r#"{"model":"gpt-y","choices":[{"delta":{"role":"assistant"}}]}"#,
        r#"{"choices":[{"delta":{"content":"Hello "}}]}"#,
        r#"{"choices":[{"delta":{"content":"world"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#,
        "[DONE]",
    ]);
    for (provider, answer) in [("anthropic", anthropic), ("openai", openai)] {
        let server = Server::new(vec![answer]);
        let reply = ask_with(provider, &server, &[], |options| options.is_whole = false).unwrap();
        assert_eq!((reply.text.as_str(), reply.is_cut), ("Hello world", false), "{provider}");
        assert_eq!((reply.usage.input, reply.usage.output), (3, 2), "{provider}");
        assert_eq!(server.got()[0].json()["stream"], true, "{provider}");
    }
}

#[test]
fn a_cut_stream_keeps_its_text() {
    let begun = r#"{"type":"content_block_delta","delta":{"text":"so far"}}"#;
    let server = Server::new(vec![Answer::events(&[begun]).breaking()]);
    let reply = ask_with("anthropic", &server, &[], |options| options.is_whole = false).unwrap();
    assert!(reply.is_cut && reply.text == "so far" && !reply.warnings.is_empty(), "{reply:?}");
    assert_eq!(server.got().len(), 1);
    // An empty response is retried.
    let server = Server::new(vec![Answer::events(&[]).breaking(), Answer::json(&message("hello"))]);
    let reply = ask_with("anthropic", &server, &[], |options| options.is_whole = false).unwrap();
    assert_eq!((reply.text.as_str(), server.got().len()), ("hello\nmore", 2));
}

#[test]
fn answers_that_are_no_answers() {
    for body in
        ["", "<html>gateway</html>", "{}", "[]", "{\"choices\": []}", "null", "{\"choices\": [{\"message\": 3}]}"]
    {
        let server = Server::new(vec![Answer::status(200, body)]);
        for provider in ["openai", "anthropic", "local"] {
            let error = ask(provider, &server).unwrap_err();
            assert!(matches!(error, LlmError::Reply { .. }) && !error.reaches_user(), "{provider} {body}: {error}");
        }
    }
}

#[test]
fn schemas_are_sent_where_the_model_can() {
    let schema = json!({"type": "object"});
    let with_schema = |provider: &str, server: &Server| {
        let variables = Variables::of_pairs(&[("ANTHROPIC_API_KEY", "sk-ant-x"), ("OPENAI_API_KEY", "sk-x")]);
        let (endpoints, _) = endpoints(&options(provider, server), &variables).unwrap();
        let request = Request { schema: Some(schema.clone()), ..question() };
        ask_chain(&gate(), &endpoints, &request, &()).unwrap().text
    };
    let tool = json!({"content": [{"type": "tool_use", "name": "answer", "input": {"summary": "s"}}]});
    let server = Server::new(vec![Answer::json(&tool)]);
    assert_eq!(with_schema("anthropic", &server), r#"{"summary":"s"}"#);
    assert_eq!(server.got()[0].json()["tools"][0]["input_schema"], schema);
    let server = Server::new(vec![
        Answer::status(400, r#"{"error": {"message": "response_format is not supported"}}"#),
        Answer::json(&completion(json!("plain"), "stop")),
    ]);
    assert_eq!(with_schema("openai:gpt-4o", &server), "plain");
    let got = server.got();
    assert_eq!(got[0].json()["response_format"]["json_schema"]["schema"], schema);
    assert_eq!(got[1].json().get("response_format"), None);
    let server = Server::new(vec![Answer::json(&completion(json!("old"), "stop"))]);
    with_schema("openai", &server);
    assert_eq!(server.got()[0].json().get("response_format"), None);
}

#[test]
fn private_servers_get_headers_of_the_user() {
    for headers in [r#"{"X-Team": "gpu", "n": 3}"#, "{'X-Team': 'gpu', 'n': 3}"] {
        let server = Server::new(vec![Answer::json(&completion(json!("x"), "stop"))]);
        let variables = [("ROCINSIGHT_LLM_PRIVATE_HEADERS", headers), ("ROCPD_LLM_PRIVATE_API_KEY", "k1")];
        ask_with("private", &server, &variables, |_| {}).unwrap();
        let got = &server.got()[0];
        assert_eq!((got.header("x-team"), got.header("n")), (Some("gpu"), Some("3")));
        assert_eq!(got.header("authorization"), Some("Bearer k1"));
        // The user's name is not sent.
        assert_eq!(got.header("user"), None);
    }
}

#[test]
fn claude_code_with_a_key_is_anthropic() {
    let server = Server::new(vec![Answer::json(&message("hello"))]);
    assert_eq!(ask("claude-code", &server).unwrap().text, "hello\nmore");
    assert_eq!(server.got()[0].json()["model"], "claude-sonnet-4-6");
    let server = Server::new(vec![Answer::status(429, "{}").with("retry-after", "0")]);
    assert!(matches!(ask("claude-code", &server).unwrap_err(), LlmError::RateLimit { .. }));
}

#[test]
#[cfg(unix)]
fn claude_code_without_a_key_is_a_program() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("claude");
    let run = |script: &str| {
        std::fs::write(&program, format!("#!/bin/sh\n{script}")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut provider_options = LlmOptions { providers: vec!["claude-code".to_owned()], ..LlmOptions::default() };
        provider_options.timeout_s = Some(2);
        let path = std::env::var("PATH").unwrap();
        let (mut endpoints, _) = endpoints(&provider_options, &Variables::of_pairs(&[("PATH", &path)])).unwrap();
        endpoints[0].provider.program = Some(program.to_string_lossy().into_owned());
        ask_chain(&gate(), &endpoints, &question(), &())
    };
    let seen = directory.path().join("seen");
    let reply = run(&format!(
        "cat CLAUDE.md > {0}; cat >> {0}; printf '<%s> ' \"$@\" >> {0}; env >> {0}\necho '{{\"result\": \"fine\", \"is_error\": false}}'",
        seen.display()
    ));
    assert_eq!(reply.unwrap().text, "fine");
    let seen = std::fs::read_to_string(&seen).unwrap();
    assert!(
        seen.starts_with("be briefwhy?")
            && seen.contains("<-p> <--output-format> <json> <--no-session-persistence> <--tools> <> <--strict-mcp-config> <--model> <sonnet>"),
        "{seen}"
    );
    assert!(!seen.contains("API_KEY"), "{seen}");
    assert_eq!(run("echo plain").unwrap().text, "plain");
    assert!(run("echo '{\"result\": \"no login\", \"is_error\": true}'").unwrap_err().to_string().contains("no login"));
    assert!(run("echo sorry >&2; exit 3").unwrap_err().to_string().contains("sorry"));
    assert!(matches!(run("exec sleep 60").unwrap_err(), LlmError::Timeout { .. }));
}

//! `ask`: dialogues with a scripted server, what leaves, and the queries that are offered without a model.

mod dialogue;
mod failures;
mod oracle;
mod privacy;
mod protocols;
mod queries;
mod real_model;

use serde_json::{Value, json};

use crate::common::{Run, finish, program};
use crate::models::Server;

const INPUT: &str = "fixtures/two_nodes";

/// A call in a chat completion.
fn call(name: &str, arguments: &Value) -> (u16, String) {
    raw_call(name, &arguments.to_string())
}

/// The same with arguments as they are.
fn raw_call(name: &str, arguments: &str) -> (u16, String) {
    let call =
        json!({"id": format!("id_{name}"), "type": "function", "function": {"name": name, "arguments": arguments}});
    message(&json!({"role": "assistant", "content": null, "tool_calls": [call]}))
}

/// A text in a chat completion.
fn says(text: &str) -> (u16, String) {
    message(&json!({"role": "assistant", "content": text}))
}

fn message(message: &Value) -> (u16, String) {
    let answer = json!({"model": "tiny-1", "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 10}});
    (200, answer.to_string())
}

/// Asks the provider `local` at a server.
fn ask(server: &Server, question: &str, arguments: &[&str]) -> Run {
    ask_provider("local:tiny-1", server, question, arguments)
}

fn ask_provider(provider: &str, server: &Server, question: &str, arguments: &[&str]) -> Run {
    let mut command = program(&["ask", question, INPUT, "--llm", provider, "--llm-url", &server.url]);
    command.args(arguments).env("ANTHROPIC_API_KEY", "sk-ant-test").env("OPENAI_API_KEY", "sk-test");
    finish(command)
}

/// The bodies that a server got.
fn bodies(server: &Server) -> Vec<Value> {
    server.got().iter().map(|body| serde_json::from_str(body).unwrap()).collect()
}

/// The texts of results of tools in a body of a chat completion.
fn results(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    messages.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

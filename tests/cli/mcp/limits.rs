//! Actions that a client may take at once: many calls, batches, not reading, and going away.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{Server, long_statement};
use crate::common::{finish, program};
use crate::waiting::soon;

fn plan() -> Value {
    json!({ "counters": ["SQ_WAVES"], "arch": "gfx942" })
}

/// The answers that come until the output ends, by id.
fn rest(server: &mut Server) -> BTreeMap<String, Vec<Value>> {
    let mut answers: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in server.output.by_ref().lines() {
        let answer: Value = serde_json::from_str(&line.unwrap()).unwrap();
        answers.entry(answer["id"].to_string()).or_default().push(answer);
    }
    answers
}

#[test]
fn what_was_asked_before_the_input_ended_is_answered() {
    let mut server = Server::start(&["fixtures", "--time-limit", "4"]);
    server.post(&json!(1), "sql", &long_statement());
    server.post(&json!(2), "plan", &plan());
    server.input = None;
    let answers = rest(&mut server);
    let message = answers["1"][0]["result"]["structuredContent"]["error"].as_str().unwrap();
    assert!(message.contains("stopped after 4 s"), "{message}");
    assert_eq!(answers["2"][0]["result"]["isError"], false);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn many_calls_at_once_are_all_answered_also_those_with_the_same_id() {
    let mut server = Server::start(&["fixtures"]);
    for call in 0..200 {
        server.post(&json!(call), "plan", &plan());
    }
    for _ in 0..3 {
        server.post(&json!("same"), "plan", &plan());
    }
    server.input = None;
    let answers = rest(&mut server);
    assert_eq!(answers.len(), 201);
    for (id, answers) in &answers {
        assert_eq!(answers.len(), if id == "\"same\"" { 3 } else { 1 }, "{id}");
        assert!(answers.iter().all(|answer| answer["result"]["isError"] == false), "{id}");
    }
}

/// Bytes that a pipe holds by default.
const PIPE_BYTES: usize = 65_536;

fn ask_for_more_than_a_pipe_holds(server: &mut Server) {
    for id in 0..30 {
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" }).to_string());
    }
}

/// The unread bytes in a pipe.
fn unread(pipe: &impl AsRawFd) -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the file is open, and the request writes one integer.
    let asked = unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut bytes) };
    assert_eq!(asked, 0);
    usize::try_from(bytes).unwrap()
}

#[test]
fn a_client_that_does_not_read_holds_nothing_up() {
    let mut server = Server::start(&["fixtures"]);
    ask_for_more_than_a_pipe_holds(&mut server);
    let is_stuck = |server: &Server| unread(server.output.get_ref()) > PIPE_BYTES / 2;
    assert!(soon(|| is_stuck(&server)), "nobody reads the answers");
    server.send(&json!({ "jsonrpc": "2.0", "id": "late", "method": "ping" }).to_string());
    assert!(soon(|| unread(server.input.as_ref().unwrap()) == 0), "the server does not read on");
    let mut bytes = 0;
    for id in 0..30 {
        let answer = server.receive();
        assert_eq!(answer["id"], id);
        bytes += answer.to_string().len();
    }
    assert!(bytes > PIPE_BYTES, "{bytes} bytes fit into a pipe");
    assert_eq!(server.receive()["id"], "late");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_client_that_does_not_read_ends_the_server() {
    let mut server = Server::start(&["fixtures", "--time-limit", "2"]);
    let start = Instant::now();
    ask_for_more_than_a_pipe_holds(&mut server);
    assert!(soon(|| server.child.try_wait().unwrap().is_some()), "the server goes on");
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
    assert!(start.elapsed() >= Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn batches_are_answered_together_where_the_version_has_them() {
    let request = |id: u64, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
    let call =
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "plan", "arguments": plan() } });
    let batch = json!([request(1, "ping"), call, 5, request(3, "no/such"), { "jsonrpc": "2.0", "method": "notifications/initialized" }, request(4, "initialize")]);
    let mut server = Server::start(&["fixtures"]);
    server.greet("2025-03-26");
    server.send(&batch.to_string());
    let replies = server.receive();
    let ids: Vec<&Value> = replies.as_array().unwrap().iter().map(|reply| &reply["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(2), &Value::Null, &json!(3), &json!(4)]);
    let codes: Vec<&Value> = replies.as_array().unwrap().iter().map(|reply| &reply["error"]["code"]).collect();
    assert_eq!(codes, [&Value::Null, &Value::Null, &json!(-32600), &json!(-32601), &json!(-32600)]);
    assert_eq!(replies[1]["result"]["isError"], false);
    // One without requests has no answer, and an empty one is invalid.
    server.send(r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#);
    server.send("[]");
    assert_eq!(server.receive()["error"]["code"], -32600);
    // One call of several is cancelled; the others are answered.
    let long = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "sql", "arguments": long_statement() } });
    server.send(&json!([long, request(8, "ping")]).to_string());
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    let replies = server.receive();
    assert_eq!((replies.as_array().unwrap().len(), &replies[0]["id"]), (1, &json!(8)));
    assert_eq!(server.end(), Some(0));

    for version in [None, Some("2024-11-05"), Some("2025-06-18"), Some("2025-11-25")] {
        let mut server = Server::start(&["fixtures"]);
        version.iter().for_each(|version| server.greet(version));
        server.send(&batch.to_string());
        let reply = server.receive();
        assert_eq!((&reply["id"], &reply["error"]["code"]), (&Value::Null, &json!(-32600)));
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains("2025-03-26") && message.contains("one object a line"), "{message}");
        assert!(version.is_none_or(|version| message.contains(version)), "{message}");
        assert_eq!(server.ask("ping", &json!({}))["result"], json!({}));
    }
}

#[test]
fn a_memory_limit_that_is_too_small_is_refused() {
    for limit in ["1", "1K", "64M"] {
        let run = finish(program(&["mcp", "fixtures", "--memory-limit", limit]));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{limit}");
        assert!(run.stderr.contains("--memory-limit") && run.stderr.contains("give at least"), "{}", run.stderr);
    }
}

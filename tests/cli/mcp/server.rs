//! A running server, as a client sees it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::program;

/// A running server with the fixtures, and the next id.
pub struct Server {
    pub child: Child,
    pub input: Option<ChildStdin>,
    pub output: BufReader<ChildStdout>,
    id: u64,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = program(&[&["mcp"], arguments].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, id: 0 }
    }

    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The reply to a request, which has its id.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        let reply = self.receive();
        assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(id)), "{reply}");
        reply
    }

    /// The result of a tool, whose text and structured content are the same.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let reply = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &reply["result"];
        assert_eq!(result["isError"], false, "{tool} {arguments}: {reply}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        text
    }

    /// The name of the exit code and the message of a tool that fails.
    pub fn fail(&mut self, tool: &str, arguments: &Value) -> (String, String) {
        let reply = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        assert_eq!(reply["result"]["isError"], true, "{tool} {arguments}: {reply}");
        let failure = &reply["result"]["structuredContent"];
        (failure["exit"]["name"].as_str().unwrap().to_owned(), failure["error"].as_str().unwrap().to_owned())
    }

    /// Sends a call without waiting for its answer.
    pub fn post(&mut self, id: &Value, tool: &str, arguments: &Value) {
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string());
    }

    /// Agrees on a version of the protocol.
    pub fn greet(&mut self, version: &str) {
        self.ask("initialize", &json!({ "protocolVersion": version }));
    }

    /// Closes the input and gives the exit code.
    pub fn end(mut self) -> Option<i32> {
        self.input = None;
        let start = Instant::now();
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status.code(),
                None if start.elapsed() > Duration::from_secs(20) => panic!("the server does not end"),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The values of a column.
pub fn column(answer: &Value, name: &str) -> Vec<Value> {
    let columns = answer["columns"].as_array().unwrap();
    let at = columns.iter().position(|column| column["name"] == name).unwrap();
    answer["rows"].as_array().unwrap().iter().map(|row| row[at].clone()).collect()
}

/// A statement that takes long and little memory: sums over a hundred functions of ten million rows.
pub fn long_statement() -> Value {
    let sums: Vec<String> = (0..100).map(|n| format!("SUM(SIN(a.n * 0.5 + b.n + {n}.25)) AS s{n}")).collect();
    let from = "numbers AS a CROSS JOIN (SELECT n FROM numbers WHERE n < 200) AS b";
    json!({ "query": format!("SELECT {} FROM {from}", sums.join(", ")), "inputs": ["two_nodes"] })
}

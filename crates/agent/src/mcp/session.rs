//! Answers of the server itself, and calls for the tools.

use serde_json::{Map, Value, json};

use super::McpOptions;
use super::protocol::{
    HANDSHAKE_VERSIONS, Line, Message, NEWEST_HANDSHAKE, ResultKind, RpcError, STATELESS, failure, marked, repeated,
    success,
};
use super::resources;
use super::tools::{INSTRUCTIONS, declared, tool_docs};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    pub id: Value,
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// Whether its result is marked for the version without a handshake.
    pub is_stateless: bool,
}

/// The reactions to a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Received {
    One(Reaction),
    /// The reaction to each message; there is at least one.
    Batch(Vec<Reaction>),
}

/// The reaction to a message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reaction {
    Nothing,
    Reply(Value),
    Call(Call),
    /// The client cancels this request.
    Cancel(Value),
}

/// The state of a connection.
pub(super) struct Session<'a> {
    options: &'a McpOptions,
    /// The version of the handshake; it only matters for batches.
    version: Option<&'static str>,
}

impl<'a> Session<'a> {
    pub(super) fn new(options: &'a McpOptions) -> Self {
        Self { options, version: None }
    }

    pub(super) fn react(&mut self, line: &[u8]) -> Received {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Received::One(Reaction::Nothing);
        }
        match Line::parse(line, self.version) {
            Err(error) => Received::One(Reaction::Reply(failure(&Value::Null, &error))),
            Ok(Line::Single(value)) => Received::One(self.message(value, false)),
            Ok(Line::Batch(values)) => {
                Received::Batch(values.into_iter().map(|value| self.message(value, true)).collect())
            }
        }
    }

    /// Handles a message, alone or in a batch.
    fn message(&mut self, value: Value, is_in_batch: bool) -> Reaction {
        match Message::parse(value) {
            Err((id, error)) => Reaction::Reply(failure(&id, &error)),
            Ok(None) => Reaction::Nothing,
            Ok(Some(message)) => match message.id.clone() {
                Some(id) if is_in_batch && message.method == "initialize" => Reaction::Reply(failure(
                    &id,
                    &RpcError::invalid_request("initialize stands alone, before any batch"),
                )),
                Some(id) => self.request(id, message),
                None => notification(&message),
            },
        }
    }

    fn request(&mut self, id: Value, message: Message) -> Reaction {
        let is_stateless = match message.is_stateless() {
            Ok(is_stateless) => is_stateless,
            Err(error) => return Reaction::Reply(failure(&id, &error)),
        };
        if message.method == "tools/call" {
            return match call(id.clone(), message, is_stateless) {
                Ok(call) => Reaction::Call(call),
                Err(error) => Reaction::Reply(failure(&id, &error)),
            };
        }
        let (kind, result) = match message.method.as_str() {
            "initialize" => {
                let version = agreed(&message.params);
                self.version = Some(version);
                (ResultKind::Answer, Ok(initialized(version)))
            }
            "server/discover" => (ResultKind::Documentation, Ok(discovered())),
            "ping" => (ResultKind::Answer, Ok(json!({}))),
            "tools/list" => (ResultKind::Documentation, Ok(json!({ "tools": declared() }))),
            "resources/list" => (ResultKind::Documentation, Ok(resources::listed(&self.options.registry))),
            "resources/templates/list" => (ResultKind::Documentation, Ok(resources::templates())),
            "resources/read" => (ResultKind::Documentation, self.read(&message.params, is_stateless)),
            other => (ResultKind::Answer, Err(RpcError::no_method(other))),
        };
        Reaction::Reply(match result {
            Ok(result) => success(&id, &marked(result, kind, is_stateless)),
            Err(error) => failure(&id, &error),
        })
    }

    fn read(&self, params: &Map<String, Value>, is_stateless: bool) -> Result<Value, RpcError> {
        let uri = params.get("uri").and_then(Value::as_str);
        let uri = uri.ok_or_else(|| RpcError::invalid_params("name a resource with uri"))?;
        resources::read(uri, &self.options.registry).ok_or_else(|| RpcError::no_resource(uri, is_stateless))
    }
}

fn notification(message: &Message) -> Reaction {
    match (message.method.as_str(), message.params.get("requestId")) {
        ("notifications/cancelled", Some(id)) => Reaction::Cancel(id.clone()),
        _ => Reaction::Nothing,
    }
}

fn call(id: Value, mut message: Message, is_stateless: bool) -> Result<Call, RpcError> {
    let Some(Value::String(tool)) = message.params.remove("name") else {
        return Err(RpcError::invalid_params("name a tool"));
    };
    if !tool_docs().iter().any(|known| known.name == tool) {
        return Err(RpcError::invalid_params(format!("unknown tool {}; tools/list lists them", repeated(&tool))));
    }
    let arguments = match message.params.remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(RpcError::invalid_params("arguments is not an object")),
    };
    Ok(Call { id, tool, arguments, is_stateless })
}

/// The version that a client requests, or the newest one if it is unknown.
fn agreed(params: &Map<String, Value>) -> &'static str {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let known = HANDSHAKE_VERSIONS.into_iter().find(|version| asked == Some(*version));
    known.unwrap_or(NEWEST_HANDSHAKE)
}

fn initialized(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

fn discovered() -> Value {
    let mut versions = HANDSHAKE_VERSIONS.to_vec();
    versions.push(STATELESS);
    json!({
        "supportedVersions": versions,
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    })
}

fn capabilities() -> Value {
    json!({ "tools": {}, "resources": {} })
}

fn server_info() -> Value {
    json!({ "name": "wavesieve", "title": "wavesieve", "version": env!("CARGO_PKG_VERSION") })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use wavesieve_engine::Registry;
    use wavesieve_tables::trace::jobs::Jobs;

    fn reply(request: &Value) -> Value {
        let options = McpOptions {
            directories: Vec::new(),
            max_rows: 10,
            max_bytes: 1000,
            time_limit: Duration::from_secs(1),
            memory_bytes: u64::MAX,
            registry: Registry::builtin().unwrap(),
            threads: 1,
            jobs: Jobs::default(),
        };
        match Session::new(&options).react(request.to_string().as_bytes()) {
            Received::One(Reaction::Reply(reply)) => reply,
            other => panic!("{other:?}"),
        }
    }

    fn ask(method: &str, params: Value) -> Value {
        reply(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }))
    }

    #[test]
    fn versions_are_negotiated() {
        for (asked, given) in [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("2099-01-01", "2025-11-25")]
        {
            let reply = ask("initialize", json!({ "protocolVersion": asked }));
            assert_eq!((&reply["id"], &reply["result"]["protocolVersion"]), (&json!(7), &json!(given)));
        }
        let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": STATELESS } });
        let found = ask("server/discover", meta.clone());
        assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!(STATELESS)));
        assert_eq!(found["result"]["resultType"], "complete");
        assert_eq!(ask("tools/list", meta)["result"]["cacheScope"], "private");
        assert_eq!(ask("tools/list", json!({}))["result"].get("resultType"), None);
    }

    #[test]
    fn what_is_not_known_is_an_error_of_the_protocol() {
        assert_eq!(ask("tasks/list", json!({}))["error"]["code"], -32601);
        assert_eq!(ask("resources/read", json!({ "uri": "wavesieve://tables/none" }))["error"]["code"], -32002);
        assert_eq!(ask("resources/read", json!({}))["error"]["code"], -32602);
        assert_eq!(ask("tools/call", json!({ "name": "write" }))["error"]["code"], -32602);
        assert_eq!(ask("tools/call", json!({ "name": "sql", "arguments": [] }))["error"]["code"], -32602);
    }
}

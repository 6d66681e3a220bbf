//! JSON-RPC 2.0 messages, and the versions of the protocol.

use serde_json::{Map, Value, json};

/// Versions with a handshake, the oldest first.
pub(super) const HANDSHAKE_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The newest version with a handshake, for clients that request an unknown one.
pub(super) const NEWEST_HANDSHAKE: &str = "2025-11-25";
/// The version in which every request names its version.
pub(super) const STATELESS: &str = "2026-07-28";

/// The only version with batches.
const WITH_BATCHES: &str = "2025-03-26";
/// Maximum characters of client data in errors.
const REPEATED: usize = 200;

/// The key for the version of a request.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Milliseconds that clients may cache lists and documentation: they do not change while the server runs.
const KEEP_MS: u64 = 3_600_000;

/// A request or notification.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Message {
    /// `None` for a notification.
    pub id: Option<Value>,
    pub method: String,
    pub params: Map<String, Value>,
}

/// The reason why a request has no result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RpcError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn parse(reason: &str) -> Self {
        Self::new(-32700, format!("not JSON: {reason}"))
    }

    pub(super) fn invalid_request(reason: &str) -> Self {
        Self::new(-32600, format!("not a request: {reason}"))
    }

    fn no_batches(version: Option<&str>) -> Self {
        let of =
            version.map_or("no handshake named one yet".to_owned(), |version| format!("this client uses {version}"));
        Self::invalid_request(&format!(
            "only protocol version {WITH_BATCHES} has batches, and {of}; send one object a line"
        ))
    }

    pub(super) fn no_method(method: &str) -> Self {
        Self::new(-32601, format!("unknown method {}", repeated(method)))
    }

    pub(super) fn invalid_params(reason: impl Into<String>) -> Self {
        Self::new(-32602, reason)
    }

    pub(super) fn no_resource(uri: &str, is_stateless: bool) -> Self {
        // Later versions use the code of invalid parameters for this error.
        let code = if is_stateless { -32602 } else { -32002 };
        let mut error = Self::new(code, format!("no resource {}; resources/list lists them", repeated(uri)));
        error.data = Some(json!({ "uri": repeated(uri) }));
        error
    }

    fn unsupported_version(requested: &str) -> Self {
        let mut supported = HANDSHAKE_VERSIONS.to_vec();
        supported.push(STATELESS);
        let mut error = Self::new(-32022, format!("unsupported protocol version {}", repeated(requested)));
        error.data = Some(json!({ "supported": supported, "requested": repeated(requested) }));
        error
    }
}

/// A text of the client in the form that errors repeat.
pub(super) fn repeated(text: &str) -> String {
    match text.char_indices().nth(REPEATED).and_then(|(end, _)| text.get(..end)) {
        Some(start) => format!("{start}…"),
        None => text.to_owned(),
    }
}

pub(super) enum Line {
    Single(Value),
    /// One or more values.
    Batch(Vec<Value>),
}

impl Line {
    /// Reads a line of a client, for its agreed version.
    pub(super) fn parse(line: &[u8], version: Option<&str>) -> Result<Self, RpcError> {
        let value: Value = serde_json::from_slice(line).map_err(|error| RpcError::parse(&error.to_string()))?;
        match value {
            Value::Array(_) if version != Some(WITH_BATCHES) => Err(RpcError::no_batches(version)),
            Value::Array(values) if values.is_empty() => Err(RpcError::invalid_request("the batch is empty")),
            Value::Array(values) => Ok(Self::Batch(values)),
            value => Ok(Self::Single(value)),
        }
    }
}

impl Message {
    /// Parses a message.
    ///
    /// # Errors
    /// The id, if known, and the error to answer with. A client's answers to requests, which this server never sends,
    /// are not messages either.
    pub(super) fn parse(value: Value) -> Result<Option<Self>, (Value, RpcError)> {
        let Value::Object(mut object) = value else {
            return Err((Value::Null, RpcError::invalid_request("it is not an object")));
        };
        let id = object.remove("id");
        let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
        let known = id.clone().filter(is_id).unwrap_or(Value::Null);
        if id.as_ref().is_some_and(|id| !is_id(id)) {
            let reason = "the id is neither a text nor a whole number; leave it out of a notification";
            return Err((Value::Null, RpcError::invalid_request(reason)));
        }
        if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err((known, RpcError::invalid_request("jsonrpc is not 2.0")));
        }
        let params = match object.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err((known, RpcError::invalid_params("params is not an object"))),
        };
        match object.remove("method") {
            Some(Value::String(method)) => Ok(Some(Self { id, method, params })),
            None if object.contains_key("result") || object.contains_key("error") => Ok(None),
            _ => Err((known, RpcError::invalid_request("there is no method"))),
        }
    }

    /// Returns whether the request uses the version without a handshake.
    pub(super) fn is_stateless(&self) -> Result<bool, RpcError> {
        let meta = self.params.get("_meta").and_then(Value::as_object);
        match meta.and_then(|meta| meta.get(VERSION_KEY)).and_then(Value::as_str) {
            None => Ok(false),
            Some(STATELESS) => Ok(true),
            Some(other) if HANDSHAKE_VERSIONS.contains(&other) => Ok(false),
            Some(other) => Err(RpcError::unsupported_version(other)),
        }
    }
}

/// The cache marks of a result, for the version without a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultKind {
    /// The result is for this call only.
    Answer,
    /// The result stays valid while the server runs.
    Documentation,
}

/// A result with the marks of its version.
pub(super) fn marked(mut result: Value, kind: ResultKind, is_stateless: bool) -> Value {
    if let (Some(fields), true) = (result.as_object_mut(), is_stateless) {
        fields.insert("resultType".to_owned(), json!("complete"));
        if kind == ResultKind::Documentation {
            fields.insert("ttlMs".to_owned(), json!(KEEP_MS));
            fields.insert("cacheScope".to_owned(), json!("private"));
        }
    }
    result
}

pub(super) fn success(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub(super) fn failure(id: &Value, error: &RpcError) -> Value {
    let mut object = json!({ "code": error.code, "message": error.message });
    if let (Some(fields), Some(data)) = (object.as_object_mut(), &error.data) {
        fields.insert("data".to_owned(), data.clone());
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": object })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_refused_with_its_id() {
        let refused = |line: &str| {
            let (id, error) = Message::parse(serde_json::from_str(line).unwrap()).unwrap_err();
            (id, error.code)
        };
        assert_eq!(refused("[]"), (Value::Null, -32600));
        for id in ["null", "1.5", "true", "[1]", "{}"] {
            assert_eq!(refused(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)), (Value::Null, -32600));
        }
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#), (Value::Null, -32600));
        assert_eq!(refused(r#"{"id":1,"method":"ping"}"#), (json!(1), -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":"a","method":7}"#), (json!("a"), -32600));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":[]}"#), (json!(2), -32602));
        assert_eq!(Message::parse(json!({ "jsonrpc": "2.0", "id": 1, "result": {} })), Ok(None));
    }

    #[test]
    fn batches_belong_to_one_version() {
        let code = |line: &str, version| Line::parse(line.as_bytes(), version).err().map(|error| error.code);
        assert_eq!(code("[1, 2]", Some(WITH_BATCHES)), None);
        assert_eq!(code("{}", None), None);
        assert_eq!(code("[]", Some(WITH_BATCHES)), Some(-32600));
        assert_eq!(code("[1, 2]", Some(NEWEST_HANDSHAKE)), Some(-32600));
        assert_eq!(code("[1, 2]", None), Some(-32600));
        assert_eq!(code("{", None), Some(-32700));
    }

    #[test]
    fn versions_are_those_of_the_request() {
        let of = |version: &str| {
            let line =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "_meta": { VERSION_KEY: version } } });
            Message::parse(line).unwrap().unwrap().is_stateless()
        };
        assert_eq!(of(STATELESS), Ok(true));
        assert_eq!(of(NEWEST_HANDSHAKE), Ok(false));
        assert_eq!(of("1999-01-01").unwrap_err().code, -32022);
    }
}

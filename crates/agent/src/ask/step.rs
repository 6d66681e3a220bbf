//! A tool call of a model, with its result.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

/// A step of a dialogue.
#[derive(Clone, Debug, Default)]
pub struct DialogueStep {
    /// Number of the step, from 1.
    pub number: usize,
    pub tool: String,
    /// The arguments with names for tokens, without arguments that are the same for every call.
    pub arguments: String,
    /// The whole result of the tool; an object with `error` on failure.
    pub result: Value,
    /// The result with tokens in place of texts, if a statement ran over tokens for a model that gets no names.
    pub over_tokens: Option<OverTokens>,
    pub is_error: bool,
    /// Whether the call was rejected before it ran, so that its error reveals nothing of the trace.
    pub is_refused: bool,
    /// Whether a name replaced a token in the arguments for the tool.
    pub has_names: bool,
    /// The step with the same call and this result.
    pub earlier: Option<usize>,
    /// The command with the same result.
    pub command: Option<String>,
    pub time: Duration,
}

/// The result of a statement that ran over tokens.
#[derive(Clone, Debug)]
pub struct OverTokens {
    pub result: Value,
    /// Texts behind hashed tokens, by token.
    pub originals: BTreeMap<String, String>,
}

impl DialogueStep {
    /// A line for the terminal.
    pub fn line(&self, of: usize) -> String {
        let Self { number, tool, arguments, .. } = self;
        let time = self.time.as_secs_f64();
        format!("step {number}/{of}: {tool} {arguments}: {}, {time:.2} s", self.outcome())
    }

    /// The outcome in a few words.
    pub fn outcome(&self) -> String {
        let text = |name: &str| self.result.get(name).and_then(Value::as_str);
        if let Some(earlier) = self.earlier {
            return format!("the same call as step {earlier}");
        }
        if self.is_error {
            return format!("error: {}", text("error").unwrap_or("no result"));
        }
        let count = |name: &str| self.result.get(name).and_then(Value::as_array).map(Vec::len);
        let rows = self.result.get("total_rows").and_then(Value::as_u64).map(|rows| rows as usize);
        let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let found = match (rows, count("findings"), count("queries")) {
            (Some(rows), _, _) => counted(rows, "row"),
            (None, Some(findings), _) => counted(findings, "finding"),
            (None, None, Some(1)) => "1 query".to_owned(),
            (None, None, Some(queries)) => format!("{queries} queries"),
            (None, None, None) => "done".to_owned(),
        };
        match text("reason") {
            Some(reason) => format!("{found} ({reason})"),
            None => found,
        }
    }
}

/// Arguments for display: a JSON object.
pub fn shown(arguments: &Map<String, Value>) -> String {
    Value::Object(arguments.clone()).to_string()
}

//! Arguments from a model, for display with the names behind its tokens, and for execution.

use serde_json::{Map, Value};

use crate::llm::{TokenMap, pattern_with, statement_with};

/// Arguments that tools compare with texts of the trace.
const COMPARED: [&str; 6] = ["window", "category", "domain", "parameters", "ids", "basis"];

/// How tokens in statements, conditions and patterns are handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tokens {
    /// They become the names that they stand for, in readable form.
    Named,
    /// They stay: the statement of a model runs over tokens.
    Kept,
}

/// The arguments with names for tokens; in statements, conditions and patterns only if requested.
pub(super) fn restored(
    tool: &str,
    arguments: &Map<String, Value>,
    map: &TokenMap,
    tokens: Tokens,
) -> Map<String, Value> {
    let fields = arguments.iter().map(|(name, value)| {
        let is_statement = tool == "sql" && name == "query";
        (name.clone(), of_field(name, value, is_statement, map, tokens))
    });
    fields.collect()
}

fn of_field(name: &str, value: &Value, is_statement: bool, map: &TokenMap, tokens: Tokens) -> Value {
    let put = |token: &str, name: &str| if tokens == Tokens::Named { name.to_owned() } else { token.to_owned() };
    match value {
        Value::String(text) if is_statement || name == "where" => Value::String(statement_with(text, map, &put)),
        Value::String(text) if name == "kernel" => Value::String(pattern_with(text, map, &put)),
        Value::String(text) => Value::String(map.restored(text)),
        Value::Array(values) => values.iter().map(|value| of_field(name, value, is_statement, map, tokens)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), of_field(name, value, false, map, tokens)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// Returns whether a name replaces a token when a call runs.
pub(super) fn has_names(tool: &str, arguments: &Map<String, Value>, map: &TokenMap) -> bool {
    let is_statement = |name: &str| tool == "sql" && name == "query" || matches!(name, "where" | "kernel");
    arguments.iter().any(|(name, value)| match value {
        _ if is_statement(name) => false,
        Value::String(text) => map.restored(text) != *text,
        Value::Array(values) => {
            values.iter().any(|value| has_names(tool, &Map::from_iter([(name.clone(), value.clone())]), map))
        }
        Value::Object(fields) => has_names("", fields, map),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    })
}

/// The texts of arguments that tools compare with texts of the trace, with their argument names.
pub(super) fn compared(tool: &str, arguments: &Map<String, Value>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let filters = arguments.get("filters").and_then(Value::as_object).into_iter().flatten();
    // The category of a finding is checked against a list of this program.
    let own = arguments.iter().filter(|(name, _)| tool != "findings" || *name != "category");
    for (name, value) in own.chain(filters).filter(|(name, _)| COMPARED.contains(&name.as_str())) {
        collect(name, value, &mut found);
    }
    found
}

fn collect(name: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((name.to_owned(), text.clone())),
        Value::Array(values) => values.iter().for_each(|value| collect(name, value, found)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| collect(name, value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn statements_and_patterns_run_over_tokens() {
        let mut map = TokenMap::default();
        map.name("NAME", "a step");
        map.name("KERNEL", "gemm(int)");
        let arguments = json!({
            "query": "top", "ids": ["[KERNEL_1]"],
            "filters": {"kernel": "^[KERNEL_1]$", "where": "a = [KERNEL_1]", "window": "@[NAME_1]"},
        });
        let arguments = arguments.as_object().unwrap();
        let named = json!({
            "query": "top", "ids": ["gemm(int)"],
            "filters": {"kernel": "^gemm\\(int\\)$", "where": "a = 'gemm(int)'", "window": "@a step"},
        });
        assert_eq!(Value::Object(restored("table", arguments, &map, Tokens::Named)), named);
        let run = json!({
            "query": "top", "ids": ["gemm(int)"],
            "filters": {"kernel": "^\\[KERNEL_1\\]$", "where": "a = '[KERNEL_1]'", "window": "@a step"},
        });
        assert_eq!(Value::Object(restored("table", arguments, &map, Tokens::Kept)), run);
    }

    #[test]
    fn names_are_put_into_other_arguments_alone() {
        let mut map = TokenMap::default();
        map.name("NAME", "a step");
        for (arguments, expected) in [
            (json!({"query": "SELECT '[NAME_1]'", "filters": {"where": "a = [NAME_1]", "kernel": "[NAME_1]"}}), false),
            (json!({"query": "SELECT 1", "filters": {"window": "@[NAME_1]"}}), true),
            (json!({"names": ["a", "[NAME_1]"]}), true),
            (json!({"names": ["a", "[NAME_9]"], "rows": 3}), false),
        ] {
            assert_eq!(has_names("sql", arguments.as_object().unwrap(), &map), expected, "{arguments}");
        }
    }

    #[test]
    fn what_is_compared() {
        let arguments = json!({
            "query": "q", "basis": "i", "ids": ["a", "b"], "category": ["c"], "by": ["rank"], "parameters": {"name": "d", "top": 5},
            "filters": {"window": "@e", "domain": "f", "kernel": "g", "where": "h"},
        });
        let texts = |tool: &str| {
            let mut texts: Vec<String> =
                compared(tool, arguments.as_object().unwrap()).into_iter().map(|(_, text)| text).collect();
            texts.sort();
            texts.concat()
        };
        assert_eq!((texts("table").as_str(), texts("findings").as_str()), ("@eabcdfi", "@eabdfi"));
    }
}

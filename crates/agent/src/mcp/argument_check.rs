//! Checks arguments against the declaration of a tool: an agent must learn which argument is wrong, and what is valid.

use serde_json::{Map, Value, json};

use super::failure::ToolFailure;
use wavesieve_model::text::similar::closest;

/// Maximum characters of a wrong value that are repeated.
const REPEATED: usize = 60;

/// The arguments of a tool, in the types of its schema. A number in place of a text becomes a text, and a text in place
/// of a list becomes a list, as on the command line.
pub(super) fn checked(
    tool: &str,
    schema: &Value,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, ToolFailure> {
    object(tool, "", schema, arguments)
}

fn object(
    tool: &str,
    path: &str,
    schema: &Value,
    values: Map<String, Value>,
) -> Result<Map<String, Value>, ToolFailure> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_open = schema.get("additionalProperties") == Some(&Value::Bool(true));
    let mut checked = Map::new();
    for (name, given) in values {
        let own = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let declared = properties.and_then(|properties| properties.get(&name));
        let given = match declared {
            // Some clients write null for omitted arguments.
            Some(_) if given.is_null() => continue,
            Some(declared) => value(tool, &own, declared, given)?,
            None if is_open && (given.is_string() || given.is_number() || given.is_boolean()) => given,
            None if is_open => return Err(wrong(&own, &given, "a text, a number, or true or false")),
            None => {
                let known: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                let meant = match closest(&name, known.iter().copied()) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => format!("choose from {}", known.join(", ")),
                };
                return Err(ToolFailure::usage(format!("unknown argument `{}` of {tool}; {meant}", shortened(&own))));
            }
        };
        checked.insert(name, given);
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut missing = required.filter(|name| !checked.contains_key(*name));
    if let Some(name) = missing.next() {
        let about = properties.and_then(|properties| properties.get(name)?.get("description")?.as_str());
        let about = about.unwrap_or("tools/list describes it");
        return Err(ToolFailure::usage(format!("missing argument `{name}` of {tool}; add it: {about}")));
    }
    Ok(checked)
}

fn value(tool: &str, path: &str, schema: &Value, given: Value) -> Result<Value, ToolFailure> {
    let refused = |given: &Value| Err(wrong(path, given, &expected(schema)));
    match (schema.get("type").and_then(Value::as_str), given) {
        (Some("string"), given @ (Value::String(_) | Value::Number(_))) => text(path, schema, given),
        (Some("array"), given @ Value::String(_)) => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            // Commas separate several texts in one, which are checked at their use.
            let is_list = given.as_str().is_some_and(|given| given.contains(','));
            Ok(json!([if is_list { given } else { text(path, items, given)? }]))
        }
        (Some("array"), Value::Array(elements)) => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            let element = |(at, element): (usize, Value)| match element {
                Value::String(_) => text(&format!("{path}[{at}]"), items, element),
                other => Err(wrong(&format!("{path}[{at}]"), &other, "a text")),
            };
            elements.into_iter().enumerate().map(element).collect()
        }
        (Some("integer"), Value::Number(number)) => {
            let whole = number.as_u64().or_else(|| {
                // JSON has only one type of number.
                number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0 && (0.0..9e15).contains(float))
                    .map(|float| float as u64)
            });
            match whole.filter(|whole| *whole >= least(schema) as u64) {
                Some(whole) => Ok(json!(whole)),
                None => refused(&Value::Number(number)),
            }
        }
        (Some("number"), Value::Number(number)) if number.as_f64().is_some_and(|float| float >= least(schema)) => {
            Ok(Value::Number(number))
        }
        (Some("boolean"), given @ Value::Bool(_)) => Ok(given),
        (Some("object"), Value::Object(values)) => object(tool, path, schema, values).map(Value::Object),
        (_, given) => refused(&given),
    }
}

fn text(path: &str, schema: &Value, given: Value) -> Result<Value, ToolFailure> {
    let text = given.as_str().map_or_else(|| given.to_string(), ToOwned::to_owned);
    let choices: Vec<&str> = choices(schema).collect();
    if choices.is_empty() || choices.contains(&text.as_str()) {
        return Ok(Value::String(text));
    }
    Err(ToolFailure::usage(format!("invalid {path} `{}`: choose from {}", shortened(&text), choices.join(", "))))
}

fn choices(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn least(schema: &Value) -> f64 {
    schema.get("minimum").and_then(Value::as_f64).unwrap_or(0.0)
}

fn expected(schema: &Value) -> String {
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => "a list of texts".to_owned(),
        Some("integer") => format!("a whole number from {}", least(schema)),
        Some("number") => format!("a number from {}", least(schema)),
        Some("boolean") => "true or false".to_owned(),
        Some("object") => match schema.get("properties").and_then(Value::as_object) {
            Some(names) => {
                let names: Vec<&str> = names.keys().map(String::as_str).collect();
                format!("an object with any of {}", names.join(", "))
            }
            None => "an object of names and values".to_owned(),
        },
        _ => "a text".to_owned(),
    }
}

fn wrong(path: &str, given: &Value, expected: &str) -> ToolFailure {
    ToolFailure::usage(format!("invalid {} `{}`: expected {expected}", shortened(path), shortened(&given.to_string())))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(REPEATED).and_then(|(end, _)| text.get(..end)) {
        Some(start) => format!("{start}…"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tools::input_schema;

    fn check(tool: &str, arguments: Value) -> Result<Value, String> {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        checked(tool, input_schema(tool).unwrap(), arguments).map(Value::Object).map_err(|failure| failure.message)
    }

    #[test]
    fn types_that_mean_the_same_are_taken() {
        for (given, becomes) in [
            (json!({ "query": "q", "inputs": "a" }), json!({ "query": "q", "inputs": ["a"] })),
            (
                json!({ "query": "q", "inputs": ["a"], "rows": 3.0 }),
                json!({ "query": "q", "inputs": ["a"], "rows": 3 }),
            ),
            (
                json!({ "query": "q", "inputs": [], "filters": { "rank": 0 } }),
                json!({ "query": "q", "inputs": [], "filters": { "rank": "0" } }),
            ),
            (json!({ "query": "q", "inputs": [], "by": null }), json!({ "query": "q", "inputs": [] })),
        ] {
            assert_eq!(check("table", given), Ok(becomes));
        }
        assert!(check("table", json!({ "query": "q", "inputs": [], "parameters": { "top": 3, "x": true } })).is_ok());
    }

    #[test]
    fn what_is_wrong_is_named_with_what_belongs_there() {
        for (tool, arguments, message) in [
            (
                "table",
                json!({ "query": "q", "inputs": "a", "rows": "ten" }),
                "invalid rows `\"ten\"`: expected a whole number from 1",
            ),
            ("sql", json!({ "query": "q", "rows": -1 }), "invalid rows `-1`: expected a whole number from 1"),
            ("sql", json!({ "query": "q", "rows": 0 }), "invalid rows `0`: expected a whole number from 1"),
            ("sql", json!({ "query": ["q"] }), "invalid query `[\"q\"]`: expected a text"),
            ("info", json!({ "inputs": { "a": 1 } }), "invalid inputs `{\"a\":1}`: expected a list of texts"),
            ("info", json!({ "inputs": [["a"]] }), "invalid inputs[0] `[\"a\"]`: expected a text"),
            (
                "info",
                json!({ "filters": { "window_mode": "half" } }),
                "invalid filters.window_mode `half`: choose from overlap, inside, clip",
            ),
            (
                "info",
                json!({ "filters": { "ranks": "0" } }),
                "unknown argument `filters.ranks` of info; did you mean rank?",
            ),
            (
                "findings",
                json!({ "inputs": ["a"], "priority": ["urgent"] }),
                "invalid priority[0] `urgent`: choose from high, medium, low, info",
            ),
            (
                "compare",
                json!({ "base": "a", "new": "b", "figures": "yes" }),
                "invalid figures `\"yes\"`: expected true or false",
            ),
            (
                "table",
                json!({ "query": "q", "inputs": [], "parameters": { "top": [1] } }),
                "invalid parameters.top `[1]`: expected a text, a number, or true or false",
            ),
        ] {
            assert_eq!(check(tool, arguments), Err(message.to_owned()));
        }
        assert!(
            check("info", json!({ "filters": [] }))
                .unwrap_err()
                .starts_with("invalid filters `[]`: expected an object with any of category, ")
        );
        assert!(check("sql", json!({})).unwrap_err().starts_with("missing argument `query` of sql; add it: "));
        assert!(check("sql", json!({ "query": null })).unwrap_err().starts_with("missing argument `query`"));
        let unknown = check("plan", json!({ "zzz": "x".repeat(900) })).unwrap_err();
        assert!(unknown.contains("unknown argument `zzz` of plan") && unknown.contains("counters"), "{unknown}");
    }
}

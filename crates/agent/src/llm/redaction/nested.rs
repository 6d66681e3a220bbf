//! Texts that are JSON themselves, such as the arguments of a call.

use serde_json::{Map, Value};

use super::pass::{FIELDS_OF_PROTOCOLS, Redactor};

/// Parses a text that is an object or a list.
fn parsed(text: &str) -> Option<Value> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    is_json.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Redacts a text that is an object or a list, text by text, so that it stays JSON. `None` for other texts.
pub(super) fn redacted(redactor: &mut Redactor, text: &str) -> Option<String> {
    let before = parsed(text)?;
    let mut value = before.clone();
    pass(redactor, &mut value, "");
    // A text without private data stays unchanged.
    Some(if value == before { text.to_owned() } else { value.to_string() })
}

/// Redacts a value, including the names of fields.
fn pass(redactor: &mut Redactor, value: &mut Value, field: &str) {
    match value {
        Value::String(text) => {
            *text = redacted(redactor, text).unwrap_or_else(|| in_its_place(redactor, text, field));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| pass(redactor, value, field)),
        Value::Object(fields) => {
            let mut passed = Map::new();
            for (name, mut value) in std::mem::take(fields) {
                pass(redactor, &mut value, &name);
                passed.insert(redactor.text(&name), value);
            }
            *fields = passed;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text in its JSON form, in quotes after the name of its field: rules match both.
fn in_its_place(redactor: &mut Redactor, text: &str, field: &str) -> String {
    let (before, behind) =
        if text.contains(['"', '\n']) { (format!("{field}: "), "") } else { (format!("{field}: \""), "\"") };
    let whole = redactor.text(&format!("{before}{text}{behind}"));
    // If the start is missing, a rule redacted the name of the field as well.
    let inner = whole.strip_prefix(&before).and_then(|rest| rest.strip_suffix(behind));
    redactor.text(inner.unwrap_or(text))
}

/// All texts in the body of a request, including texts within JSON texts.
pub(super) fn texts(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(value, true, &mut found);
    found
}

fn collect(value: &Value, is_of_protocol: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) => match parsed(text) {
            Some(inner) => collect(&inner, false, found),
            None => found.push(text.clone()),
        },
        Value::Array(values) => values.iter().for_each(|value| collect(value, is_of_protocol, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if !is_of_protocol {
                    found.push(name.clone());
                } else if value.is_string() && FIELDS_OF_PROTOCOLS.contains(&name.as_str()) {
                    continue;
                }
                collect(value, is_of_protocol, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

//! The text of a settings file.

use toml::{Table, Value};

/// Parses a text.
///
/// # Errors
/// The line number, from 1, and the problem of that line.
pub(crate) fn parse(text: &str) -> Result<Table, (usize, String)> {
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        (before.matches('\n').count() + 1, error.message().to_owned())
    })
}

/// A value of a file as texts; `None` for a section and for values that no option accepts.
pub(crate) fn strings(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Float(number) => Some(vec![number.to_string()]),
        Value::Boolean(truth) => Some(vec![truth.to_string()]),
        Value::Array(values) if values.iter().all(|value| !value.is_array()) => {
            let parts: Option<Vec<Vec<String>>> = values.iter().map(strings).collect();
            Some(parts?.concat())
        }
        Value::Array(_) | Value::Datetime(_) | Value::Table(_) => None,
    }
}

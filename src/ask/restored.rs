//! Arguments of a model with the names that its tokens stand for, in the form that their place asks for.

use serde_json::{Map, Value};

use crate::llm::TokenMap;

/// What is written around a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    /// Within single quotes.
    Text,
    /// Within double quotes.
    Name,
    Comment,
}

/// The arguments with names for tokens.
pub(crate) fn restored(tool: &str, arguments: &Map<String, Value>, map: &TokenMap) -> Map<String, Value> {
    let fields = arguments.iter().map(|(name, value)| {
        let is_statement = tool == "sql" && name == "query";
        (name.clone(), of_field(name, value, is_statement, map))
    });
    fields.collect()
}

fn of_field(name: &str, value: &Value, is_statement: bool, map: &TokenMap) -> Value {
    match value {
        Value::String(text) if is_statement || name == "where" => Value::String(in_sql(text, map)),
        // A regular expression: a name is matched literally.
        Value::String(text) if name == "kernel" => {
            Value::String(map.restored_as(text, &|_, original| regex::escape(original)))
        }
        Value::String(text) => Value::String(map.restored(text)),
        Value::Array(values) => values.iter().map(|value| of_field(name, value, is_statement, map)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), of_field(name, value, false, map)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// A statement with names for tokens; a token outside of quotes becomes a text.
fn in_sql(text: &str, map: &TokenMap) -> String {
    map.restored_as(text, &|before, original| {
        let as_text = original.replace('\'', "''");
        match place(before) {
            Place::Text => as_text,
            Place::Name => original.replace('"', "\"\""),
            Place::Code => format!("'{as_text}'"),
            // A line break would end it.
            Place::Comment => String::new(),
        }
    })
}

/// Where in a statement the end of its beginning is. A doubled quote ends a text and begins it again.
fn place(before: &str) -> Place {
    let mut place = Place::Code;
    let mut last = ' ';
    for letter in before.chars() {
        place = match (place, letter) {
            (Place::Code, '\'') => Place::Text,
            (Place::Code, '"') => Place::Name,
            (Place::Code, '-') if last == '-' => Place::Comment,
            (Place::Text, '\'') | (Place::Name, '"') | (Place::Comment, '\n') => Place::Code,
            (other, _) => other,
        };
        last = letter;
    }
    place
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map() -> TokenMap {
        let mut map = TokenMap::default();
        map.name("KERNEL", "it's<a \"b\">");
        map.name("KERNEL", "gemm(int)");
        map
    }

    #[test]
    fn names_are_quoted_as_their_place_asks() {
        for (text, expected) in [
            ("name = '[KERNEL_1]'", "name = 'it''s<a \"b\">'"),
            ("name LIKE '%[KERNEL_1]%' OR x = ''", "name LIKE '%it''s<a \"b\">%' OR x = ''"),
            ("name = [KERNEL_1]", "name = 'it''s<a \"b\">'"),
            ("name = KERNEL_2 AND 'a''b' = '[KERNEL_2]'", "name = 'gemm(int)' AND 'a''b' = 'gemm(int)'"),
            ("SELECT 1 AS \"[KERNEL_1]\"", "SELECT 1 AS \"it's<a \"\"b\"\">\""),
            ("1 -- it's [KERNEL_1]\n, [KERNEL_2]", "1 -- it's \n, 'gemm(int)'"),
            ("name = '[KERNEL_9]'", "name = '[KERNEL_9]'"),
        ] {
            assert_eq!(in_sql(text, &map()), expected, "{text}");
        }
    }

    #[test]
    fn patterns_match_names_literally() {
        let arguments = json!({"query": "top", "filters": {"kernel": "^[KERNEL_2]$", "where": "a = [KERNEL_2]"}, "ids": ["[KERNEL_2]"]});
        let restored = restored("table", arguments.as_object().unwrap(), &map());
        let expected = json!({"query": "top", "filters": {"kernel": "^gemm\\(int\\)$", "where": "a = 'gemm(int)'"}, "ids": ["gemm(int)"]});
        assert_eq!(Value::Object(restored), expected);
    }
}

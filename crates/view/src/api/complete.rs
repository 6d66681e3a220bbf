//! `/api/complete`: words that continue a statement.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use wavesieve_engine::calls;
use wavesieve_model::schema::{Table, table, tables};

use super::error::ApiError;
use super::parameters::only;
use crate::http::Head;

/// Maximum number of words.
const MAX_WORDS: usize = 60;
/// Words of statements.
const KEYWORDS: [&str; 20] = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "LIMIT",
    "JOIN",
    "LEFT JOIN",
    "ON",
    "WITH",
    "AS",
    "AND",
    "OR",
    "NOT",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "BETWEEN",
];

/// A word with its kind and meaning.
struct Word {
    text: String,
    kind: &'static str,
    about: String,
}

/// Answers a request: `prefix` is the statement up to the cursor.
///
/// # Errors
/// When there are other parameters.
pub fn answer(head: &Head) -> Result<Value, ApiError> {
    only(head, &["prefix"])?;
    let text = head.target.get("prefix").unwrap_or_default();
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let start = text.char_indices().rev().take_while(|(_, character)| is_part(*character)).last();
    let start = start.map_or(text.len(), |(at, _)| at);
    let (before, begun) = text.split_at_checked(start).unwrap_or((text, ""));
    let words = words(before, &begun.to_lowercase());
    let words: Vec<Value> = words
        .iter()
        .take(MAX_WORDS)
        .map(|word| json!({ "text": word.text, "kind": word.kind, "about": word.about }))
        .collect();
    Ok(json!({ "begun": begun, "words": words }))
}

fn words(before: &str, begun: &str) -> Vec<Word> {
    let named = |text: &str| -> Vec<String> {
        let parts = text.split(|character: char| !(character.is_alphanumeric() || character == '_'));
        parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect()
    };
    let column = |table: &'static Table| {
        let of = move |column: &wavesieve_model::schema::Column| Word {
            text: column.name.to_owned(),
            kind: "column",
            about: format!("{}: {}", table.name, column.doc),
        };
        table.columns.iter().map(of)
    };
    let earlier = named(before);
    let mut found: Vec<Word> = Vec::new();
    if before.ends_with('.') {
        // The columns of a table, or of one that has this alias.
        let name = earlier.last().map(String::as_str).unwrap_or_default();
        let pairs = earlier.windows(2).filter_map(|two| Some((two.first()?, two.last()?)));
        let aliased = pairs
            .filter(|(_, alias)| *alias == name)
            .find_map(|(of, _)| if of == "as" { earlier.iter().rev().find_map(|word| table(word)) } else { table(of) });
        found.extend(table(name).or(aliased).into_iter().flat_map(column));
    } else {
        let is_table = matches!(earlier.last().map(String::as_str), Some("from" | "join" | "describe"));
        let used: BTreeSet<&str> = earlier.iter().filter_map(|word| table(word)).map(|table| table.name).collect();
        if !is_table {
            found.extend(used.into_iter().filter_map(table).flat_map(column));
        }
        let of_table = |table: &Table| {
            let about = table.about.split(". ").next().unwrap_or_default();
            Word { text: table.name.to_owned(), kind: "table", about: about.to_owned() }
        };
        found.extend(tables().iter().map(|table| of_table(table)));
        if !is_table {
            let call = |call: &str, about: &str| {
                let name = call.split_once('(').map_or(call, |(name, _)| name);
                Word { text: format!("{name}("), kind: "function", about: format!("{call}: {about}") }
            };
            found.extend(calls().iter().map(|known| call(&known.call, &known.about)));
            let keyword = |text: &str| Word { text: text.to_owned(), kind: "keyword", about: String::new() };
            found.extend(KEYWORDS.map(keyword));
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|word| word.text.to_lowercase().starts_with(begun) && seen.insert(word.text.clone()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(before: &str, begun: &str) -> Vec<String> {
        words(before, begun).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn tables_columns_and_functions_continue_a_statement() {
        assert_eq!(texts("SELECT * FROM ", "kernel_sy"), ["kernel_symbols"]);
        assert_eq!(texts("SELECT name FROM regions WHERE ", "parent"), ["parent_correlation_id"]);
        assert_eq!(texts("SELECT k.id FROM kernels AS k WHERE k.", "dispatch"), ["dispatch_id"]);
        assert_eq!(texts("SELECT k.id FROM kernels k WHERE k.", "dispatch"), ["dispatch_id"]);
        assert!(texts("SELECT ", "quantile").iter().any(|word| word.to_lowercase().starts_with("quantile")));
        assert!(texts("SELECT ", "sel").contains(&"SELECT".to_owned()));
        assert!(texts("SELECT nothing.", "").is_empty());
    }
}

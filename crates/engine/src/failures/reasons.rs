//! Reasons why a statement cannot be run, in other words than those of polars or its parser.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Token, Tokenizer};

use crate::depth::DEEPEST;
use crate::dialect::calls;
use crate::error::QueryError;
use wavesieve_model::text::similar::closest;

/// A message of polars, and the one that replaces it.
#[derive(Debug, Deserialize)]
struct Phrase {
    /// A regular expression of the message.
    pattern: String,
    /// Its replacement; `$1` is a group, and `$type1` the type that a group names, as SQL names it.
    becomes: String,
}

#[derive(Debug, Default, Deserialize)]
struct ReasonsFile {
    phrase: Vec<Phrase>,
    syntax: Vec<Phrase>,
    leak: Vec<String>,
}

static FILE: LazyLock<ReasonsFile> =
    LazyLock::new(|| toml::from_str(data!("share/sql/reasons.toml")).unwrap_or_default());

static PHRASES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let phrases = FILE.phrase.iter();
    phrases.filter_map(|phrase| Some((Regex::new(&phrase.pattern).ok()?, phrase.becomes.as_str()))).collect()
});

/// Patterns that only messages for programmers contain.
static LEAKS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| FILE.leak.iter().filter_map(|leak| Regex::new(leak).ok()).collect());

/// The reason in a message of the engine, without the plan below it.
pub fn reason_of(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default().trim_end_matches('.');
    if let Some(name) = first.strip_prefix("unsupported function '").and_then(|rest| rest.strip_suffix('\'')) {
        return no_function(name);
    }
    if let Some((pattern, becomes)) = PHRASES.iter().find(|(pattern, _)| pattern.is_match(first)) {
        return pattern.replace(first, |found: &Captures<'_>| filled(becomes, found)).into_owned();
    }
    if LEAKS.iter().any(|leak| leak.is_match(first)) {
        return "polars cannot do a part of it; run it in DuckDB over a dataset of `wavesieve convert`".to_owned();
    }
    first.to_owned()
}

/// A phrase with the groups of a message in their places.
fn filled(phrase: &str, found: &Captures<'_>) -> String {
    (1..found.len()).fold(phrase.to_owned(), |text, at| {
        let group = found.get(at).map_or("", |group| group.as_str());
        text.replace(&format!("$type{at}"), type_name(group)).replace(&format!("${at}"), group)
    })
}

/// A type of polars as SQL names it.
fn type_name(name: &str) -> &str {
    match name.trim_matches('`') {
        "i8" | "i16" | "i32" | "i64" | "i128" | "u8" | "u16" | "u32" | "u64" | "u128" | "dyn int" => "integers",
        "Int8" | "Int16" | "Int32" | "Int64" | "UInt8" | "UInt16" | "UInt32" | "UInt64" => "integers",
        "f32" | "f64" | "Float32" | "Float64" | "dyn float" => "numbers",
        "str" | "String" | "cat" | "enum" | "Categorical" | "categorical" => "text",
        "bool" | "Boolean" => "truth values",
        "date" | "time" | "Date" | "Time" => "dates and times",
        "null" | "Null" => "missing values",
        other if other.starts_with("datetime") || other.starts_with("Datetime") || other.starts_with("duration") => {
            "dates and times"
        }
        _ => "other values",
    }
}

fn no_function(name: &str) -> String {
    let names: Vec<String> = calls().iter().filter_map(|call| Some(call.call.split_once('(')?.0.to_owned())).collect();
    let meant = closest(name, names.iter().map(String::as_str));
    let hint = meant.map(|meant| format!(" (did you mean {meant}?)")).unwrap_or_default();
    format!("unknown function {name}{hint}; see `wavesieve schema sql`")
}

/// The error of a statement that cannot be parsed.
pub fn unreadable(sql: &str, error: &ParserError) -> QueryError {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    let words = tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_) | Token::SingleQuotedString(_)));
    let words = words.map(|token| token.to_string().to_lowercase()).collect::<Vec<_>>().join(" ");
    let is_meant = |syntax: &&Phrase| Regex::new(&syntax.pattern).is_ok_and(|pattern| pattern.is_match(&words));
    if let Some(syntax) = FILE.syntax.iter().find(is_meant) {
        return QueryError::Dialect { reason: syntax.becomes.clone() };
    }
    let reason = match error {
        ParserError::RecursionLimitExceeded => {
            format!(
                "it is nested too deeply, or has more than {DEEPEST} operators in a row; put parts of it into WITH expressions, \
                 and many values into IN"
            )
        }
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => {
            let text = text.replace(" at Line: ", " at line ").replace(", Column: ", ", column ");
            let text = text
                .replace("Expected: ", "expected ")
                .replace(", found: ", ", found ")
                .replace("found EOF", "found the end");
            let mut letters = text.chars();
            let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
            format!("{first}{}; correct it there", letters.as_str())
        }
    };
    QueryError::Dialect { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read() {
        let file: ReasonsFile = toml::from_str(data!("share/sql/reasons.toml")).unwrap();
        let phrases = file.phrase.iter().chain(&file.syntax).map(|phrase| &phrase.pattern);
        for pattern in phrases.chain(&file.leak) {
            assert!(Regex::new(pattern).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn types_and_plans_are_left_out() {
        for (message, expected) in [
            (
                "`sum` operation not supported for dtype `str`\n\nResolved plan",
                "sum does not take text; cast it, or take another column",
            ),
            (
                "expression Tuple([Value(ValueWithSpan { value: Number(\"1\", false) })]) is not currently supported",
                "polars cannot do a part of it; run it in DuckDB over a dataset of `wavesieve convert`",
            ),
            ("cannot compare categorical with i32", "text and integers are compared with each other; cast one of them"),
            (
                "a column is of the type Int128",
                "polars cannot do a part of it; run it in DuckDB over a dataset of `wavesieve convert`",
            ),
            (
                "a sum of x is beyond 64 bits; sum CAST(x AS DOUBLE) instead",
                "a sum of x is beyond 64 bits; sum CAST(x AS DOUBLE) instead",
            ),
        ] {
            assert_eq!(reason_of(message), expected);
        }
        assert!(reason_of("unsupported function 'stdev_pop'").contains("did you mean stddev_pop?"));
    }

    /// The engine lists only the columns that were read for the statement, not all columns.
    #[test]
    fn unknown_columns_come_without_a_list_that_is_not_whole() {
        for message in [
            "unable to find column \"nam\"; valid columns: [\"process\", \"start_ns\"]\n\nDid you mean",
            "not found: unable to find column \"nam\"; valid columns: [\"process\"]",
        ] {
            let reason = reason_of(message);
            assert_eq!(reason, "unable to find column \"nam\"; see the tables and columns with `wavesieve schema`");
        }
    }

    /// Reasons do not advise steps that only programmers can take.
    #[test]
    fn nobody_is_told_to_compile_anything() {
        for message in [
            "cross joins would produce more rows than fits into 2^32; consider compiling with polars-big-idx feature, or set 'streaming'",
            "explode produces 5000000000 rows which is more than maximum allowed pow(2, 32)-1 rows; consider compiling with bigidx feature",
            "Polars' maximum length reached. Consider compiling with 'bigidx' feature.",
            "to see more, compile with the 'fmt' feature",
        ] {
            let reason = reason_of(message);
            let words = ["compil", "feature", "polars-"];
            assert!(!words.iter().any(|word| reason.contains(word)) && reason.contains("; "), "{reason}");
        }
    }
}

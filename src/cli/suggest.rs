//! What a user may have meant: verbs and queries on the command line, tables and columns in a statement.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use clap::Command;
use clap::error::{ContextKind, ContextValue};
use regex::Regex;

use crate::engine::{QueryError, closest};
use crate::trace::schema::{self, Table, tables};

/// Leaves only the closest of many similar verbs or queries in an error of the command line.
pub fn narrow(error: &mut clap::Error, command: &Command) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand).cloned() else { return };
    let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand).cloned() else { return };
    let verbs = command.get_subcommands().map(Command::get_name);
    let candidates = if similar.is_empty() { verbs.collect() } else { similar.iter().map(String::as_str).collect() };
    let best = closest(&given, Vec::into_iter(candidates)).into_iter().collect();
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(best));
}

/// Names a table or column that a statement uses and nobody has, and the closest that exists.
pub fn explain(error: QueryError, statement: &str) -> QueryError {
    let QueryError::Sql { reason } = &error else { return error };
    let name = |pattern: &Option<Regex>| Some(pattern.as_ref()?.captures(reason)?.get(1)?.as_str().to_owned());
    let explained = if let Some(name) = name(&UNKNOWN_TABLE) {
        let meant = similar(&name, tables().iter().map(|table| table.name));
        format!("no table is named {name}{}", suggestion(meant))
    } else if let Some(name) = name(&UNKNOWN_COLUMN) {
        unknown_column(&name, &mentioned(statement))
    } else {
        return error;
    };
    QueryError::Sql { reason: explained }
}

static UNKNOWN_TABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:relation|no table or struct column named) '([^']+)'(?: was not)? found").ok());
static UNKNOWN_COLUMN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?:unable to find column |no column named )["']([^"']+)["']"#).ok());

fn unknown_column(name: &str, used: &[&'static Table]) -> String {
    let places = used.iter().map(|table| table.name).collect::<Vec<_>>().join(", ");
    let columns = || used.iter().flat_map(|table| table.column_names());
    if columns().any(|column| column == name) || places.is_empty() {
        return format!("no column is named {name} here");
    }
    let owners: Vec<&str> =
        tables().iter().filter(|table| table.column(name).is_some()).map(|table| table.name).collect();
    if owners.is_empty() {
        return format!("no column is named {name} in {places}{}", suggestion(similar(name, columns())));
    }
    format!("no column is named {name} in {places} (it is one of {})", owners.join(", "))
}

/// The canonical tables a statement mentions.
fn mentioned(statement: &str) -> Vec<&'static Table> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let words: BTreeSet<String> = statement
        .split(|character| !is_word(character))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.iter().filter_map(|word| schema::table(word)).collect()
}

/// The closest name, as a whole or by its last words, so that `nam` is a `kernel_name`; the first of equals.
fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let name = name.to_lowercase();
    let score = |candidate: &str| {
        let endings = candidate.match_indices('_').filter_map(|(at, _)| candidate.get(at + 1..));
        let of_endings = endings.map(|ending| 0.9 * strsim::jaro_winkler(&name, ending)).fold(0.0, f64::max);
        strsim::jaro_winkler(&name, candidate).max(of_endings)
    };
    let scored = candidates.map(|candidate| (score(candidate), candidate)).filter(|(score, _)| *score > 0.7);
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, candidate)| candidate.to_owned())
}

fn suggestion(name: Option<String>) -> String {
    name.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

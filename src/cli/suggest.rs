//! Suggestions for mistyped names: commands and queries on the command line, tables and columns in a statement.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use regex::Regex;

use crate::cli::command_line::CommandLine;
use crate::invocation;
use wavesieve_engine::{QueryError, closest};
use wavesieve_model::schema;
use wavesieve_model::schema::{Table, tables};
use wavesieve_model::text::similar::{alike, is_one_slip_from};

/// Keeps only the closest of many similar verbs or queries in a command-line error, and names an option that differs by
/// one typing mistake. The parser's own measure misses that in short names.
pub(crate) fn narrow(error: &mut clap::Error, line: &CommandLine<'_>) {
    if let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand).cloned()
        && let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand).cloned()
    {
        let best = closest(&given, similar.iter().map(String::as_str)).or(similar.last().cloned());
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(best.into_iter().collect()));
    }
    if error.kind() == ErrorKind::InvalidValue
        && let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidValue).cloned()
        && given.ends_with(".sql")
    {
        let tip = format!("to run the statement in {given}, name it in the place of the QUERY; -f is the format");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg).cloned()
        && let Some(name) = given.strip_prefix("--")
    {
        let command = line.whole();
        let own = innermost(command);
        if let Some(meant) = slip(name, own) {
            error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{meant}")));
            error.remove(ContextKind::Usage);
        } else if let Some((verb, query)) = verb_with(name, command) {
            // The tips of the parser do not fit: the word is not a mistyped option, nor an input.
            let is_query =
                command.find_subcommand("table").is_some_and(|table| table.find_subcommand(own.get_name()).is_some());
            let tip = match query.filter(|_| is_query) {
                Some(query) => {
                    format!("--{name} is an option of `wavesieve {verb} {query}`, not of `{}`", own.get_name())
                }
                None => format!("--{name} is an option of `wavesieve {verb}`"),
            };
            error.remove(ContextKind::SuggestedArg);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
        }
    }
}

/// A verb that has an option, or the first of its queries that does. Options of queries come first.
fn verb_with<'a>(option: &str, command: &'a Command) -> Option<(&'a str, Option<&'a str>)> {
    let has = |command: &&Command| command.get_arguments().any(|argument| argument.get_long() == Some(option));
    let mut verbs = command.find_subcommand("table").into_iter().chain(command.get_subcommands());
    verbs.find_map(|verb| {
        if has(&verb) {
            return Some((verb.get_name(), None));
        }
        let query = verb.get_subcommands().find(has)?;
        Some((verb.get_name(), Some(query.get_name())))
    })
}

/// The verb or query that the command line names.
fn innermost(command: &Command) -> &Command {
    invocation::arguments().fold(command, |command, word| command.find_subcommand(&word).unwrap_or(command))
}

fn slip(name: &str, command: &Command) -> Option<String> {
    let mut options = command.get_arguments().filter_map(Arg::get_long);
    options.find(|option| is_one_slip_from(name, option)).map(ToOwned::to_owned)
}

/// Names a table or column that a statement uses but the trace lacks, and the closest that exists.
pub(crate) fn explain(error: QueryError, statement: &str) -> QueryError {
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

/// The canonical tables that a statement mentions.
fn mentioned(statement: &str) -> Vec<&'static Table> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let words: BTreeSet<String> = statement
        .split(|character| !is_word(character))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.iter().filter_map(|word| schema::table(word)).collect()
}

/// The closest name, as a whole or by its last words, so that `nam` suggests `kernel_name`; the first of equal ones.
fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let name = name.to_lowercase();
    let score = |candidate: &str| {
        let endings = candidate.match_indices('_').filter_map(|(at, _)| candidate.get(at + 1..));
        let of_endings = endings.map(|ending| 0.9 * alike(&name, ending)).fold(0.0, f64::max);
        alike(&name, candidate).max(of_endings)
    };
    let scored = candidates.map(|candidate| (score(candidate), candidate)).filter(|(score, _)| *score > 0.7);
    let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, candidate)| candidate.to_owned())
}

fn suggestion(name: Option<String>) -> String {
    name.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

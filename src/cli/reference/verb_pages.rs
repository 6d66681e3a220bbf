//! The commands as Markdown pages, from the definition of the command line.

use clap::{Arg, Command};
use minijinja::{Value, context};

use super::arrangement::MAIL;
use super::help::{Part, listed, notes, render};

/// File names and texts of the pages: an index and one per verb.
pub(crate) fn pages(command: &Command) -> Vec<(String, Vec<u8>)> {
    let unbuilt = command.clone();
    let mut built = command.clone().disable_help_subcommand(true);
    built.build();
    let groups = listed(command);
    let global = options(&unbuilt, |option| option.is_global_set());
    let index = render(include_str!("../../../templates/docs/verbs_index.md"), context! { groups, options => global });
    let mut pages = vec![("README.md".to_owned(), format!("{index}\n").into_bytes())];
    for verb in unbuilt.get_subcommands() {
        let sections = sections(verb, &built);
        let page = render(include_str!("../../../templates/docs/verbs.md"), context! { sections });
        pages.push((format!("{}.md", verb.get_name()), format!("{page}\n").into_bytes()));
    }
    pages
}

/// The verb, then its own verbs; queries have a separate document.
fn sections(verb: &Command, built: &Command) -> Vec<Value> {
    let mut sections = Vec::new();
    if let Some(built) = built.find_subcommand(verb.get_name()) {
        collect(verb, built, &mut sections);
    }
    sections
}

fn collect(verb: &Command, built: &Command, sections: &mut Vec<Value>) {
    let is_table = verb.get_name() == "table";
    let described = verb.get_long_about().or(verb.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = built.clone().render_usage().to_string();
    let usage: Vec<String> = usage.lines().map(|line| line.trim_start_matches("Usage:").trim().to_owned()).collect();
    let parts: Vec<Value> = notes(verb)
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => context! { text => escaped(&text) },
            Part::Lines(lines) => context! { lines },
        })
        .collect();
    // Options of every query stand for the command; options of one query are in the document of the queries.
    let queries: Vec<&Command> = verb.get_subcommands().filter(|_| is_table).collect();
    let has = |command: &Command, option: &Arg| command.get_arguments().any(|other| other.get_id() == option.get_id());
    let shared = |option: &Arg| queries.iter().all(|query| has(query, option));
    // Options of every command are only in the index.
    let is_own = |option: &Arg| !option.is_global_set() || option.get_help_heading() == Some(MAIL);
    let mut options = options(verb, |option| is_own(option) && (queries.is_empty() || !shared(option)));
    let of_queries = |option: &Arg| is_own(option) && shared(option);
    options.extend(queries.first().map(|query| self::options(query, of_queries)).unwrap_or_default());
    let name = built.get_bin_name().unwrap_or_default();
    sections.push(context! { name, about => escaped(&described), usage, options, parts, is_table });
    if !is_table {
        for (verb, built) in verb.get_subcommands().zip(built.get_subcommands()) {
            collect(verb, built, sections);
        }
    }
}

fn options(command: &Command, wanted: impl Fn(&Arg) -> bool) -> Vec<Value> {
    command.get_arguments().filter(|option| !option.is_hide_set() && wanted(option)).map(option).collect()
}

fn option(option: &Arg) -> Value {
    let takes_value = option.get_action().takes_values();
    let value =
        option.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let value = value.unwrap_or_else(|| option.get_id().as_str().to_uppercase());
    let names: Vec<String> = option
        .get_short()
        .map(|short| format!("-{short}"))
        .into_iter()
        .chain(option.get_long().map(|long| format!("--{long}")))
        .collect();
    let names = match (names.is_empty(), takes_value) {
        (true, _) => value,
        (false, true) => format!("{} {value}", names.join(", ")),
        (false, false) => names.join(", "),
    };
    let choices: Vec<String> = option
        .get_possible_values()
        .iter()
        .filter(|_| takes_value)
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    let default: Vec<String> =
        option.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let default = if takes_value { default.join(",") } else { String::new() };
    let help = option.get_long_help().or(option.get_help()).map(ToString::to_string).unwrap_or_default();
    let paragraphs: Vec<&str> = help.split("\n\n").map(|text| text.trim_end_matches('.')).collect();
    let help = paragraphs.join(". ");
    context! { names => escaped_bars(&names), help => escaped(&help), choices, default => escaped_bars(&default) }
}

/// Text for a Markdown table in which `<…>` stays visible.
fn escaped(text: &str) -> String {
    escaped_bars(text).replace('<', "&lt;")
}

/// Text in backticks for a Markdown table.
fn escaped_bars(text: &str) -> String {
    text.replace('|', "\\|")
}

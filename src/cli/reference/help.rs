//! Help texts: the commands by task, notes below a query's options, and the parts of such notes for other renderers.

use std::sync::LazyLock;

use anyhow::Context as _;
use clap::Command;
use clap::builder::{StyledStr, Styles};
use minijinja::{Environment, Value, context};

use wavesieve_engine::{Parameter, ParameterType, Query};

/// The text below the options of the program.
pub(crate) const MAIN_NOTES: &str = include_str!("../../../templates/help/main_notes.txt");

/// Verbs by task, in the order of the main help. A verb without a task comes last, under "More".
const GROUPS: &[(&str, &[&str])] = &[
    ("Inspect", &["info", "check", "table", "sql", "view"]),
    ("Analyze", &["analyze", "ask", "compare", "report"]),
    ("Collect", &["scan", "plan"]),
    ("Tune", &["interactive", "workflow", "sessions", "lab"]),
    ("Export", &["convert", "trim", "merge", "package"]),
    ("Agents", &["mcp"]),
    ("Setup", &["completions", "man", "config", "schema", "licenses"]),
];

/// The groups for templates: a title, and the names and summaries of the commands.
pub(crate) fn listed(command: &Command) -> Vec<Value> {
    let row = |verb: &&Command| context! { name => verb.get_name(), about => about(verb) };
    let group = |(title, verbs): (&str, Vec<&Command>)| {
        let verbs: Vec<Value> = verbs.iter().map(row).collect();
        context! { title, verbs }
    };
    groups(command).into_iter().map(group).collect()
}

/// The verbs that exist, by task.
pub(crate) fn groups(command: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let verbs = || command.get_subcommands().filter(|verb| verb.get_name() != "help");
    let grouped = GROUPS.iter().map(|(title, names)| {
        (*title, names.iter().filter_map(|name| verbs().find(|verb| verb.get_name() == *name)).collect())
    });
    let known = |verb: &&Command| GROUPS.iter().any(|(_, names)| names.contains(&verb.get_name()));
    let rest = ("More", verbs().filter(|verb| !known(verb)).collect());
    grouped.chain([rest]).filter(|(_, verbs): &(_, Vec<&Command>)| !verbs.is_empty()).collect()
}

/// The template of the main help, which lists the verbs by task with one line each.
pub(crate) fn main_template(command: &Command) -> StyledStr {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let width = command.get_subcommands().map(|verb| verb.get_name().len()).max().unwrap_or(0);
    let groups: Vec<_> = groups(command)
        .into_iter()
        .map(|(title, verbs)| {
            let verbs: Vec<_> = verbs
                .into_iter()
                .map(|verb| {
                    let name = verb.get_name();
                    let padding = " ".repeat(width.saturating_sub(name.len()));
                    context! { name, padding, about => about(verb) }
                })
                .collect();
            context! { title, verbs }
        })
        .collect();
    let style = context! {
        header => header.render().to_string(), header_end => header.render_reset().to_string(),
        literal => literal.render().to_string(), literal_end => literal.render_reset().to_string(),
    };
    render(include_str!("../../../templates/help/main.txt"), context! { groups, style }).into()
}

pub(crate) fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Notes below the options of a query: its columns, its dimensions and examples.
pub(crate) fn query_notes(query: &Query) -> String {
    let declaration = &query.declaration;
    let columns: Vec<_> = declaration
        .columns
        .iter()
        .map(|column| {
            let padding = " ".repeat(24_usize.saturating_sub(column.name.len()));
            context! { name => &column.name, doc => &column.doc, padding }
        })
        .collect();
    let parameter = declaration
        .parameters
        .iter()
        .find_map(|parameter| Some(context! { flag => flag(parameter), value => example(parameter)? }));
    let (name, dimensions) = (&query.name, &declaration.dimensions);
    render(include_str!("../../../templates/help/query.txt"), context! { name, columns, dimensions, parameter })
}

/// The long option of a query's parameter.
pub(crate) fn flag(parameter: &Parameter) -> String {
    parameter.name.replace('_', "-")
}

/// An example value of the parameter, quoted for a shell; `None` if only an empty value is known.
fn example(parameter: &Parameter) -> Option<String> {
    let value = match (parameter.name.as_str(), parameter.parameter_type) {
        ("top", ParameterType::Int) => "5",
        _ => parameter.default.trim_matches('\''),
    };
    let plain = value.chars().all(|character| character.is_alphanumeric() || "-_.,/".contains(character));
    (!value.is_empty()).then(|| if plain { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) })
}

/// A part of the notes below the options.
pub(crate) enum Part {
    /// A paragraph.
    Text(String),
    /// Lines that are shown unchanged, without their indent.
    Lines(Vec<String>),
}

/// The parts of the notes below the options of a verb: indented lines are examples or tables, the others paragraphs.
pub(crate) fn notes(command: &Command) -> Vec<Part> {
    let text = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
    let mut parts: Vec<Part> = Vec::new();
    let mut fresh = true;
    for line in text.lines() {
        match (line.strip_prefix("  "), parts.last_mut()) {
            (Some(line), Some(Part::Lines(lines))) => lines.push(line.to_owned()),
            (Some(line), _) => parts.push(Part::Lines(vec![line.to_owned()])),
            (None, Some(Part::Text(text))) if !fresh && !line.is_empty() => {
                text.push(' ');
                text.push_str(line);
            }
            (None, _) if !line.is_empty() => parts.push(Part::Text(line.to_owned())),
            (None, _) => {}
        }
        fresh = line.is_empty();
    }
    parts
}

/// Renders a built-in template. An error is shown in place of the text, and found by the tests.
pub(crate) fn render(template: &str, context: minijinja::Value) -> String {
    // Built once: it has many filters, and every query has a text.
    static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        environment
    });
    ENVIRONMENT
        .render_str(template, context)
        .context("internal: a template of the binary is wrong")
        .unwrap_or_else(|error| format!("{error:#}"))
}

//! `config show [VERB…]`: the effective settings and their sources.

use std::collections::{BTreeMap, BTreeSet};

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use polars::prelude::{DataFrame, IntoColumn, IntoSeries, NewChunkedArray, StringChunked};

use crate::cli::exit::{DONE, Failure};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::output::OutputArguments;
use crate::cli::output::{answer, messages};
use crate::cli::reference::pages;
use crate::cli::settings::{Effective, Origin, Settings, effective};
use wavesieve_engine::{Answer, ColumnUnit, OutputColumn};

/// Show effective settings and their sources
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  wavesieve config show
  wavesieve config show table")]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Clone, Debug)]
enum Action {
    /// Print every setting with its value and where it comes from
    ///
    /// A setting is a long option. Later sources override earlier ones: the default, wavesieve.toml in this directory
    /// or the nearest one above, ~/.config/wavesieve/config.toml (or below XDG_CONFIG_HOME if set), the variable
    /// WAVESIEVE_<OPTION>, the flag. Keys in a file are option names: at the top for all commands, below [table] or
    /// [table.kernel_summary] for one command or query. A switch is true or false. Paths are relative to the file.
    /// Unknown keys are errors; -v lists unknown variables.
    #[command(after_help = "Examples:
  wavesieve config show
  wavesieve config show table kernel_summary
  wavesieve config show -f json
  WAVESIEVE_UNIT=us wavesieve config show info")]
    Show(ShowArguments),
}

#[derive(Args, Clone, Debug)]
struct ShowArguments {
    /// Command, or command and query, whose settings to show [default: all]
    #[arg(value_name = "VERB")]
    verbs: Vec<String>,
    #[command(flatten)]
    output: OutputArguments,
}

/// A command, and its query if any, with an option.
type Row = (String, Effective);

pub(crate) fn run(
    matches: &ArgMatches,
    settings: &Settings,
    command: &Command,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let arguments = ConfigArguments::from_arg_matches(matches).map_err(Failure::usage)?;
    let Action::Show(arguments) = arguments.action;
    let shown = matches.subcommand().map(|(_, matches)| matches);
    for name in settings.unknown_variables(command) {
        messages::detail(global, format_args!("{name} sets no option"));
    }
    let verb = pages::find(command, &arguments.verbs)?;
    // Options of every command: their flags are given to this command.
    let mut rows: Vec<Row> = effective(settings, command, &arguments.verbs, shown)
        .into_iter()
        .map(|option| (String::new(), option))
        .collect();
    if arguments.verbs.is_empty() {
        for verb in command.get_subcommands() {
            rows.extend(summary(settings, verb, &[verb.get_name().to_owned()]));
        }
    } else {
        rows.extend(own(settings, verb, &arguments.verbs));
    }
    answer::write(table(&rows)?, &arguments.output, global)?;
    Ok(DONE)
}

fn own(settings: &Settings, command: &Command, path: &[String]) -> Vec<Row> {
    effective(settings, command, path, None).into_iter().map(|option| (path.join(" "), option)).collect()
}

/// The options of a verb. Options that most of its queries share with the same value are shown once.
fn summary(settings: &Settings, command: &Command, path: &[String]) -> Vec<Row> {
    let mut rows = own(settings, command, path);
    let below: Vec<Row> = command
        .get_subcommands()
        .flat_map(|inner| summary(settings, inner, &[path, &[inner.get_name().to_owned()]].concat()))
        .collect();
    let mut counts: BTreeMap<&Effective, usize> = BTreeMap::new();
    below.iter().for_each(|(_, option)| *counts.entry(option).or_default() += 1);
    let queries = command.get_subcommands().count();
    let shared: BTreeSet<&Effective> =
        counts.into_iter().filter(|(_, count)| queries > 1 && count * 2 > queries).map(|(option, _)| option).collect();
    let own: BTreeSet<String> = rows.iter().map(|(_, option)| option.option.clone()).collect();
    rows.extend(
        shared.iter().filter(|option| !own.contains(&option.option)).map(|option| (path.join(" "), (*option).clone())),
    );
    let of_verb: BTreeSet<Effective> = rows.iter().map(|(_, option)| option.clone()).collect();
    rows.extend(below.iter().filter(|(_, option)| !of_verb.contains(option)).cloned());
    rows
}

fn table(rows: &[Row]) -> Result<Answer, Failure> {
    let column = |name: &str, value: &dyn Fn(&Row) -> Option<String>| {
        StringChunked::from_iter_options(name.into(), rows.iter().map(value)).into_series().into_column()
    };
    let frame = DataFrame::new_infer_height(vec![
        column("verb", &|(verb, _)| Some(if verb.is_empty() { "(all)".to_owned() } else { verb.clone() })),
        column("setting", &|(_, option)| Some(option.option.clone())),
        column("value", &|(_, option)| option.value.clone()),
        column("origin", &|(_, option)| Some(option.origin.to_string())),
        column("kind", &|(_, option)| Some(kind(&option.origin).to_owned())),
    ])
    .map_err(anyhow::Error::from)?;
    let columns = ["verb", "setting", "value", "origin", "kind"].map(|name| OutputColumn {
        name: name.to_owned(),
        unit: ColumnUnit::Text,
        doc: String::new(),
    });
    Ok(Answer { frame, columns: columns.into(), is_readable: false })
}

fn kind(origin: &Origin) -> &'static str {
    match origin {
        Origin::Default => "default",
        Origin::File(_) => "file",
        Origin::Environment(_) => "environment",
        Origin::Flag => "flag",
    }
}

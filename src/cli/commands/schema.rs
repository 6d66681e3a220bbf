//! `schema`: documentation of tables, queries, commands, metrics and rules, and JSON Schemas of documents.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};

use crate::cli::command_line::CommandLine;
use crate::cli::exit::{DONE, Failure};
use crate::cli::output::messages::print;
use crate::cli::reference::arrangement::arranged;
use crate::cli::reference::{pages, rule_pages, skill_pages, upstream_page, verb_pages};
use wavesieve_engine::Registry;
use wavesieve_engine::findings::RuleBook;
use wavesieve_export::documentation;
use wavesieve_model::schema::tables;
use wavesieve_report::{batch, json};

/// A topic to describe.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum Topic {
    /// The canonical tables
    #[default]
    Tables,
    /// The named queries
    Queries,
    /// The commands and their options
    Verbs,
    /// The metrics over hardware counters
    Metrics,
    /// The rules of the guided analysis
    Rules,
    /// JSON documents of analyses, as JSON Schema
    Document,
    /// The index of the documents of many runs, as JSON Schema
    Index,
    /// Output of `compare -f json`, as JSON Schema
    Compare,
    /// The functions of `wavesieve sql`
    Sql,
    /// Formats, options and releases of other programs that are known, and when they were last checked
    Upstream,
    /// Output of `info -f json`, as JSON Schema
    Info,
    /// Output of `check -f json`, as JSON Schema
    Check,
    /// Output of `table -f json` and `sql -f json`, as JSON Schema
    Table,
    /// The manifest of a dataset, as JSON Schema
    Dataset,
    /// The time line of pages, as JSON Schema
    Timeline,
    /// The documents of `lab profile`, as JSON Schema
    LabProfile,
    /// Output of `lab autotune -f json`, as JSON Schema
    LabAutotune,
    /// Output of `lab optimize -f json`, as JSON Schema
    LabOptimize,
    /// Output of `lab capture -f json`, as JSON Schema
    LabCapture,
    /// Output of `lab replay -f json`, as JSON Schema
    LabReplay,
    /// Output of `lab code -f json`, as JSON Schema
    LabCode,
    /// The skill for agents, and their settings for `wavesieve mcp`
    Skill,
}

/// A JSON Schema of `share/schemas`. Its name has hyphens in place of the underscores of the file name.
macro_rules! schema {
    ($name:literal) => {
        json_schema(&$name.replace('_', "-"), include_str!(concat!("../../../share/schemas/", $name, ".json")))
    };
}

/// Print reference docs and JSON Schemas
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  wavesieve schema
  wavesieve schema kernels
  wavesieve schema queries
  wavesieve schema verbs --output docs/verbs")]
pub(crate) struct SchemaArguments {
    /// Tables, queries, verbs, metrics, rules, sql or upstream; skill for agents; document, index, compare, info, check, table, dataset, timeline, lab-profile, lab-autotune, lab-optimize, lab-capture, lab-replay or lab-code for a JSON Schema; or a table name
    #[arg(value_name = "TOPIC", value_parser = topics(), hide_possible_values = true, default_value = "tables")]
    topic: String,
    /// Output directory: tables.md, queries.md, sql.md, metrics.md, upstream.md, document.json and other schemas, SKILL.md with settings, or a page per command
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &SchemaArguments, registry: &Registry, line: &CommandLine<'_>) -> Result<u8, Failure> {
    let topic = match Topic::from_str(&arguments.topic, true) {
        Ok(topic) => topic,
        Err(_) => {
            let page = documentation::table(&arguments.topic).unwrap_or_default();
            return deliver(arguments, &[(format!("{}.md", arguments.topic), page.into_bytes())]);
        }
    };
    let described = match topic {
        Topic::Tables => vec![("tables.md".to_owned(), documentation::tables().into_bytes())],
        Topic::Queries => vec![("queries.md".to_owned(), documentation::queries(registry).into_bytes())],
        Topic::Verbs => verb_pages::pages(&arranged(line.whole().clone())),
        Topic::Metrics => vec![("metrics.md".to_owned(), documentation::metrics().into_bytes())],
        Topic::Rules => {
            let book = RuleBook::builtin().map_err(anyhow::Error::from)?;
            vec![("rules.md".to_owned(), rule_pages::page(&book).into_bytes())]
        }
        Topic::Upstream => vec![("upstream.md".to_owned(), upstream_page::page().into_bytes())],
        Topic::Sql => vec![("sql.md".to_owned(), documentation::functions().into_bytes())],
        Topic::Index => json_schema("index", batch::SCHEMA),
        Topic::Document => json_schema("document", json::SCHEMA),
        Topic::Compare => schema!("compare"),
        Topic::Info => schema!("info"),
        Topic::Check => schema!("check"),
        Topic::Table => schema!("table"),
        Topic::Timeline => schema!("timeline"),
        Topic::LabCapture => schema!("lab_capture"),
        Topic::LabReplay => schema!("lab_replay"),
        Topic::Dataset => schema!("dataset"),
        Topic::LabAutotune => schema!("lab_autotune"),
        Topic::LabCode => schema!("lab_code"),
        Topic::LabProfile => schema!("lab_profile"),
        Topic::LabOptimize => schema!("lab_optimize"),
        Topic::Skill => skill_pages::pages(line.whole(), registry)?,
    };
    deliver(arguments, &described)
}

/// The topics that can be described.
fn topics() -> PossibleValuesParser {
    let topics = Topic::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let tables = tables().iter().map(|table| PossibleValue::new(table.name).help(table.about));
    topics.chain(tables).collect::<Vec<_>>().into()
}

fn deliver(arguments: &SchemaArguments, described: &[(String, Vec<u8>)]) -> Result<u8, Failure> {
    match &arguments.output {
        Some(directory) => pages::write(directory, described)?,
        None => {
            let texts: Vec<&[u8]> = described.iter().map(|(_, text)| text.as_slice()).collect();
            print(texts.join(&b'\n'))?;
        }
    }
    Ok(DONE)
}

fn json_schema(name: &str, text: &str) -> Vec<(String, Vec<u8>)> {
    vec![(format!("{name}.json"), text.as_bytes().to_vec())]
}

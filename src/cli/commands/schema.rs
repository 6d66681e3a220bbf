//! `schema`: the canonical tables, the queries, the commands, the metrics and the rules as documentation, documents as JSON Schema.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Command, ValueEnum};

use crate::cli::exit::{DONE, Failure};
use crate::cli::output::messages::print;
use crate::cli::reference::{pages, rule_pages, skill_pages, verb_pages};
use crate::engine::Registry;
use crate::export::documentation;
use crate::findings::RuleBook;
use crate::report::{batch, json};
use crate::schema::tables;

/// What to describe.
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
    /// What `compare -f json` writes, as JSON Schema
    Compare,
    /// The functions of `wavesieve sql`
    Sql,
    /// What `info -f json` writes, as JSON Schema
    Info,
    /// What `check -f json` writes, as JSON Schema
    Check,
    /// What `table -f json` and `sql -f json` write, as JSON Schema
    Table,
    /// The manifest of a dataset, as JSON Schema
    Dataset,
    /// What `lab capture -f json` prints, as JSON Schema
    Capture,
    /// What `lab replay -f json` writes, as JSON Schema
    Replay,
    /// The skill for agents, and their settings for `wavesieve mcp`
    Skill,
}

/// JSON Schemas by topic.
const COMPARE: &str = include_str!("../../../share/schemas/compare.json");
const INFO: &str = include_str!("../../../share/schemas/info.json");
const CHECK: &str = include_str!("../../../share/schemas/check.json");
const TABLE: &str = include_str!("../../../share/schemas/table.json");
const CAPTURE: &str = include_str!("../../../share/schemas/capture.json");
const REPLAY: &str = include_str!("../../../share/schemas/replay.json");
const DATASET: &str = include_str!("../../../share/schemas/dataset.json");

/// Print reference docs and JSON Schemas
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  wavesieve schema
  wavesieve schema kernels
  wavesieve schema queries
  wavesieve schema verbs --output docs/verbs")]
pub(crate) struct SchemaArguments {
    /// Tables, queries, verbs, metrics, rules or sql; skill for agents; document, index, compare, info, check, table, capture, replay or dataset for a JSON Schema; or a table name
    #[arg(value_name = "TOPIC", value_parser = topics(), hide_possible_values = true, default_value = "tables")]
    topic: String,
    /// Output directory: tables.md, queries.md, sql.md, metrics.md, document.json and other schemas, SKILL.md with settings, or a page per command
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// When the pages cannot be written.
pub(crate) fn run(arguments: &SchemaArguments, registry: &Registry, command: &Command) -> Result<u8, Failure> {
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
        Topic::Verbs => verb_pages::pages(command),
        Topic::Metrics => vec![("metrics.md".to_owned(), documentation::metrics().into_bytes())],
        Topic::Rules => {
            let book = RuleBook::builtin().map_err(anyhow::Error::from)?;
            vec![("rules.md".to_owned(), rule_pages::page(&book).into_bytes())]
        }
        Topic::Sql => vec![("sql.md".to_owned(), documentation::functions().into_bytes())],
        Topic::Index => json_schema("index", batch::SCHEMA),
        Topic::Document => json_schema("document", json::SCHEMA),
        Topic::Compare => json_schema("compare", COMPARE),
        Topic::Info => json_schema("info", INFO),
        Topic::Check => json_schema("check", CHECK),
        Topic::Table => json_schema("table", TABLE),
        Topic::Capture => json_schema("capture", CAPTURE),
        Topic::Replay => json_schema("replay", REPLAY),
        Topic::Dataset => json_schema("dataset", DATASET),
        Topic::Skill => skill_pages::pages(command, registry)?,
    };
    deliver(arguments, &described)
}

/// The words that can be described.
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

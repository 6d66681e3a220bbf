//! `schema`: the canonical tables, the queries, the verbs, the metrics and the rules as documentation, documents as JSON Schema.

use std::path::PathBuf;

use clap::{Args, Command, ValueEnum};

use super::exit::{DONE, Failure};
use super::messages::print;
use super::{pages, rule_pages, verb_pages};
use crate::engine::Registry;
use crate::export::documentation;
use crate::findings::RuleBook;
use crate::report::{batch, json};

/// What to describe.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Topic {
    /// The canonical tables
    #[default]
    Tables,
    /// The named queries
    Queries,
    /// The verbs and their options
    Verbs,
    /// The metrics over hardware counters
    Metrics,
    /// The rules of the guided analysis
    Rules,
    /// JSON documents of analyses, as JSON Schema
    Document,
    /// The index of the documents of many runs, as JSON Schema
    Index,
}

/// Describe the canonical tables, the queries, the verbs, the metrics or the rules in Markdown, documents in JSON Schema
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  wavesieve schema
  wavesieve schema queries
  wavesieve schema verbs --output docs/verbs")]
pub struct SchemaArguments {
    /// What to describe
    #[arg(value_enum, default_value_t)]
    topic: Topic,
    /// Directory for the pages: tables.md, queries.md, metrics.md, document.json, index.json, or one per verb
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// When the pages cannot be written.
pub fn run(arguments: &SchemaArguments, registry: &Registry, command: &Command) -> Result<u8, Failure> {
    let described = match arguments.topic {
        Topic::Tables => vec![("tables.md".to_owned(), documentation::tables().into_bytes())],
        Topic::Queries => vec![("queries.md".to_owned(), documentation::queries(registry).into_bytes())],
        Topic::Verbs => verb_pages::pages(command),
        Topic::Metrics => vec![("metrics.md".to_owned(), documentation::metrics().into_bytes())],
        Topic::Rules => {
            let book = RuleBook::builtin().map_err(anyhow::Error::from)?;
            vec![("rules.md".to_owned(), rule_pages::page(&book).into_bytes())]
        }
        Topic::Index => vec![("index.json".to_owned(), batch::SCHEMA.as_bytes().to_vec())],
        Topic::Document => vec![("document.json".to_owned(), json::SCHEMA.as_bytes().to_vec())],
    };
    match &arguments.output {
        Some(directory) => pages::write(directory, &described)?,
        None => {
            let texts: Vec<&[u8]> = described.iter().map(|(_, text)| text.as_slice()).collect();
            print(texts.join(&b'\n'))?;
        }
    }
    Ok(DONE)
}

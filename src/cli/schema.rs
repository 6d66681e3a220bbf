//! `schema`: the canonical tables and the queries as documentation.

use clap::{Args, ValueEnum};

use super::exit::{DONE, Failure};
use crate::engine::Registry;
use crate::export::documentation;

/// What to describe.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Topic {
    /// The canonical tables
    #[default]
    Tables,
    /// The named queries
    Queries,
}

/// Describe the canonical tables or the queries, in Markdown
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  wavesieve schema
  wavesieve schema queries")]
pub struct SchemaArguments {
    /// What to describe
    #[arg(value_enum, default_value_t)]
    topic: Topic,
}

/// Runs the verb.
///
/// # Errors
/// Never.
pub fn run(arguments: &SchemaArguments, registry: &Registry) -> Result<u8, Failure> {
    match arguments.topic {
        Topic::Tables => print!("{}", documentation::tables()),
        Topic::Queries => print!("{}", documentation::queries(registry)),
    }
    Ok(DONE)
}

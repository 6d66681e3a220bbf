//! `sql QUERY INPUT…`: any statement over the canonical tables.

use clap::Args;

use super::alignment::AlignmentArguments;
use super::answer::check_output;
use super::arguments::{CacheArguments, GlobalArguments, InputArguments, Opening, OutputArguments};
use super::exit::{DONE, Failure, NO_DATA, PARTIAL};
use super::filters::{explain_unmatched, note_untouched};
use super::source_text::SourceArguments;
use super::suggest::explain;
use super::{answer, messages};
use crate::engine::{is_query, mentioned, run_sql};

/// Run SQL over the canonical tables
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  wavesieve sql 'SELECT rank, COUNT(*) AS n FROM kernels GROUP BY rank ORDER BY rank' traces/
  wavesieve sql \"SELECT * FROM regions WHERE domain = 'hip' LIMIT 10\" traces/ -f csv

The tables and their columns: wavesieve schema")]
pub struct SqlArguments {
    /// One SELECT statement
    #[arg(value_name = "QUERY")]
    query: String,
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    alignment: AlignmentArguments,
    #[command(flatten)]
    cache: CacheArguments,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    source: SourceArguments,
}

/// Runs the verb.
///
/// # Errors
/// When the inputs or the statement cannot be used.
pub fn run(arguments: &SqlArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    if !is_query(&arguments.query) {
        return Err(Failure::Usage("the query is no SELECT statement; begin with SELECT or WITH".to_owned()));
    }
    check_output(&arguments.input, &arguments.output)?;
    let source = arguments.source.open(global)?;
    let request = mentioned(&arguments.query);
    let opening = Opening { request: Some(&request), cache: Some(&arguments.cache), ..Opening::default() };
    let trace = arguments.input.open(global, &opening)?;
    messages::warn(&trace, global);
    let trace = arguments.alignment.apply(trace, &request, global)?;
    note_untouched(&trace, request.into_keys(), global);
    let result = run_sql(&trace, &arguments.query).map_err(|error| explain(error, &arguments.query))?;
    let result = source.add_to(result)?;
    let empty = result.frame.height() == 0;
    answer::write(result, &arguments.output, global)?;
    if messages::report_damage(&trace, global) {
        return Ok(PARTIAL);
    }
    Ok(if explain_unmatched(&trace, empty, global)? { NO_DATA } else { DONE })
}

//! `info INPUT…`: summarizes the inputs.

use clap::Args;

use super::gpu_figures;
use crate::cli::exit::Failure;
use crate::cli::options::filters::end;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{CacheArguments, InputArguments, Opening};
use crate::cli::options::output::{AnswerFormat, OutputArguments};
use crate::cli::output::answer::check_output;
use crate::cli::output::{answer, messages};
use wavesieve_engine::{Query, Registry};
use wavesieve_report::overview::{Overview, activity_request};

/// Summarize inputs: processes, ranks, GPUs, time spans, rows
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Machine-readable formats hold one record per process. `wavesieve check` also finds damage inside
datasets and long texts, which `info` does not read.

Examples:
  wavesieve info traces/
  wavesieve info dataset -f json"
)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    cache: CacheArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(arguments: &InfoArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    check_output(&arguments.input, &arguments.output)?;
    let trace = arguments.input.open(global, &Opening { cache: Some(&arguments.cache), ..Opening::default() })?;
    messages::warn(&trace, global);
    let overview = Overview::of(&trace)?;
    let for_people = matches!(arguments.output.format(), AnswerFormat::Table | AnswerFormat::Md);
    let is_printed = for_people && arguments.output.path().is_none();
    if is_printed {
        messages::print(format!("{}\n\n", overview.headline))?;
    }
    let (filled, is_empty) = (overview.filled_tables(), !overview.has_activity());
    let queries = if is_printed { Some(overview.queries(&trace, registry)?) } else { None };
    answer::write(overview.processes, &arguments.output, global)?;
    if let Some((with_rows, if_found)) = queries {
        let names =
            |queries: Vec<&Query>| queries.iter().map(|query| query.name.as_str()).collect::<Vec<_>>().join(", ");
        let filled: Vec<String> = filled.iter().map(|(table, rows)| format!("{table} {rows}")).collect();
        messages::print(format!(
            "\nrows: {}\nqueries with rows: {}\nqueries with rows if they find something: {}\n",
            filled.join(", "),
            names(with_rows),
            names(if_found)
        ))?;
        let figures = gpu_figures::describe(&trace);
        if !figures.is_empty() {
            messages::print(format!(
                "\n{figures}`wavesieve table device_constants` has the roofs and the references\n"
            ))?;
        }
    }
    messages::note_left_out(&trace, &activity_request(), global)?;
    end(&trace, is_empty, global)
}

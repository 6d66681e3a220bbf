//! `convert INPUT… -o DIR`: the whole trace as a dataset.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL};
use crate::cli::options::filters::explain_unmatched;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{InputArguments, Opening};
use crate::cli::output::messages;
use crate::cli::output::progress::Progress;
use crate::export::conversion::{
    Outcome, Plan, Refused, check_output, convert, finished_of, on_demand_name, on_demand_tables,
};
use crate::export::convert::TableFormat;
use crate::input::AtInterruption;

/// Convert traces to Parquet, CSV, JSON or Arrow
#[derive(Args, Clone, Debug)]
#[command(after_help = "You can use the Parquet dataset as an input, and open it in pandas, DuckDB and polars.

If the dataset exists, convert updates it: ranks whose files did not change (size, time, first and
last MiB) are reused if the same version converted them with the same options. If a conversion is
interrupted, rerun the same command to resume.

Examples:
  wavesieve convert traces/ -o dataset
  wavesieve convert 'traces/**/*_results.db' -o dataset --rank-from 'rank(\\d+)'
  wavesieve convert traces/ -o dataset --with launches
  wavesieve convert traces/ -o tables --to csv")]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    input: InputArguments,
    /// Output directory; it appears or changes only when everything is written
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// File format
    #[arg(long, value_enum, default_value_t)]
    to: TableFormat,
    /// Also write these derived tables, which queries otherwise compute when needed; `all` for all of them
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = on_demand_name)]
    with: Vec<String>,
    /// Convert everything again and replace the existing dataset
    #[arg(long)]
    overwrite: bool,
}

/// Runs the verb.
///
/// # Errors
/// When the inputs cannot be used or the output cannot be written.
pub(crate) fn run(arguments: &ConvertArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let output = &arguments.output;
    check_output(output, arguments.overwrite).map_err(refusal)?;
    let trace = arguments.input.open(global, &Opening { exclude: Some(output), ..Opening::default() })?;
    messages::warn(&trace, global);
    let with = on_demand_tables(&arguments.with);
    let progress = Progress::new(trace.members().len(), with.len(), global);
    let plan = Plan { output, format: arguments.to, with, overwrite: arguments.overwrite };
    let said = at_interruption(output, &progress);
    let outcome = convert(&trace, &plan, &progress);
    drop(said);
    progress.finish();
    let outcome = outcome.map_err(refusal)?;
    if !global.quiet {
        messages::print_note(summary(output, trace.members().len(), &outcome));
    }
    if messages::report_damage(&trace, global) {
        return Ok(PARTIAL);
    }
    Ok(if explain_unmatched(&trace, outcome.written.events == 0, global)? { NO_DATA } else { DONE })
}

/// An output that cannot be written is wrong usage.
fn refusal(error: anyhow::Error) -> Failure {
    match error.downcast::<Refused>() {
        Ok(refused) => Failure::Usage(refused.to_string()),
        Err(error) => Failure::Other(error),
    }
}

/// On a signal that ends the program, reports how to continue.
fn at_interruption(output: &Path, progress: &Progress) -> AtInterruption {
    let (output, clear) = (output.to_owned(), progress.clearer());
    AtInterruption::new(move || {
        clear();
        match finished_of(&output) {
            0 => messages::print_note(
                "interrupted before a process was finished; run the same command again to start over",
            ),
            count => {
                let noun = if count == 1 { "process is" } else { "processes are" };
                messages::print_note(format_args!(
                    "interrupted: {count} finished {noun} kept; run the same command again to resume"
                ));
            }
        }
    })
}

/// What was done, in a line.
fn summary(output: &Path, processes: usize, outcome: &Outcome) -> String {
    let (rows, files) = (outcome.written.rows, outcome.written.files);
    let mebibytes = outcome.written.bytes as f64 / 1_048_576.0;
    let noun = if processes == 1 { "process" } else { "processes" };
    let content = format!("{processes} {noun}, {rows} rows, {files} files, {mebibytes:.1} MiB");
    let shown = output.display();
    if outcome.up_to_date {
        return format!("{shown} is up to date: {content}, all unchanged");
    }
    match (outcome.reused, outcome.converted) {
        (0, _) => format!("wrote {shown}: {content}"),
        (reused, converted) => {
            format!("wrote {shown}: {content}; {reused} unchanged (reused), {converted} converted")
        }
    }
}

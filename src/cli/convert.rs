//! `convert INPUT… -o DIR`: the whole trace as a dataset.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::arguments::{GlobalArguments, InputArguments};
use super::exit::{DONE, Failure, NO_DATA, PARTIAL};
use super::filters::explain_unmatched;
use super::messages;
use super::progress::Progress;
use crate::export::atomic::{replace_directory, write_directory};
use crate::export::convert::{TableFormat, write_dataset};
use crate::input::is_dataset;

/// Write all tables of all ranks as a hive-partitioned dataset
#[derive(Args, Clone, Debug)]
#[command(after_help = "The Parquet dataset is an input like any other, and opens in pandas, DuckDB and polars.

Examples:
  wavesieve convert traces/ -o dataset
  wavesieve convert 'traces/**/*_results.db' -o dataset --rank-from 'rank(\\d+)'
  wavesieve convert traces/ -o tables --to csv")]
pub struct ConvertArguments {
    #[command(flatten)]
    input: InputArguments,
    /// Directory to write; it appears when everything is written
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Format of the files
    #[arg(long, value_enum, default_value_t)]
    to: TableFormat,
    /// Replace a dataset that is there already
    #[arg(long)]
    overwrite: bool,
}

/// Runs the verb.
///
/// # Errors
/// When the inputs cannot be used or the output cannot be written.
pub fn run(arguments: &ConvertArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let output = &arguments.output;
    let replaced = check_output(output, arguments.overwrite)?;
    let trace = arguments.input.open(global.threads())?;
    messages::warn(&trace, global);
    let progress = Progress::new(&trace, global);
    let written = if replaced {
        replace_directory(output, |directory| write_dataset(&trace, directory, arguments.to, &progress))?
    } else {
        write_directory(output, |directory| write_dataset(&trace, directory, arguments.to, &progress))?
    };
    progress.finish();
    if !global.quiet {
        let (rows, files) = (written.rows, written.files);
        let mebibytes = written.bytes as f64 / 1_048_576.0;
        let processes = trace.members().len();
        let noun = if processes == 1 { "process" } else { "processes" };
        let shown = output.display();
        messages::say(format_args!(
            "wrote {shown}: {processes} {noun}, {rows} rows, {files} files, {mebibytes:.1} MiB"
        ));
    }
    if messages::report_damage(&trace) {
        return Ok(PARTIAL);
    }
    Ok(if explain_unmatched(&trace, written.events == 0, global)? { NO_DATA } else { DONE })
}

/// Whether a dataset is there to be replaced.
fn check_output(output: &Path, overwrite: bool) -> Result<bool, Failure> {
    if output.is_file() {
        return Err(Failure::Usage(format!("{} is a file; name a directory", output.display())));
    }
    let occupied = output.is_dir() && fs::read_dir(output)?.next().is_some();
    if !occupied {
        return Ok(false);
    }
    match (is_dataset(output), overwrite) {
        (true, true) => Ok(true),
        (true, false) => Err(Failure::Usage(format!(
            "{} holds a dataset; name another directory or add --overwrite",
            output.display()
        ))),
        (false, _) => Err(Failure::Usage(format!("{} is not empty; name another directory", output.display()))),
    }
}

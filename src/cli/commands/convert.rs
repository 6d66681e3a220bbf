//! `convert INPUT… -o DIR`: the whole trace as a dataset.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::convert_viewers::{TimelineArguments, ViewerFormat, check_place, nothing_written};
use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL};
use crate::cli::options::filters::{explain_all_unmatched, explain_unmatched};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{InputArguments, Opening};
use crate::cli::output::delivery::print_written;
use crate::cli::output::messages;
use crate::cli::output::progress::Progress;
use crate::engine::Registry;
use crate::export::atomic::write_directory;
use crate::export::conversion::{
    Outcome, Plan, Refused, check_output, convert, finished_of, on_demand_name, on_demand_tables,
};
use crate::export::convert::TableFormat;
use crate::export::dataset::PACK_BYTES;
use crate::export::rocprofv3::{self, Flavor};
use crate::input::AtInterruption;

/// Convert traces to Parquet, CSV, JSON or Arrow, or to a trace for Perfetto
#[derive(Args, Clone, Debug)]
#[command(after_help = "You can use the Parquet dataset as an input, and open it in pandas, DuckDB and polars.

If the dataset exists, convert updates it: ranks whose files did not change (size, time, first and
last MiB) are reused if the same version converted them with the same options. If a conversion is
interrupted, rerun the same command to resume.

Examples:
  wavesieve convert traces/ -o dataset
  wavesieve convert 'traces/**/*_results.db' -o dataset --rank-from 'rank(\\d+)'
  wavesieve convert traces/ -o tables --to csv --with launches
  wavesieve convert traces/ --to pftrace -o trace.pftrace")]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    input: InputArguments,
    /// Output directory, of pftrace a file unless --split; it appears or changes only when everything is written
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// File format
    #[arg(long, value_enum, default_value_t)]
    to: ConvertFormat,
    #[command(flatten)]
    timeline: TimelineArguments,
    /// Whose files rocprofv3-csv writes
    #[arg(long, value_enum, default_value_t, value_name = "PROGRAM")]
    csv_flavor: Flavor,
    /// Also write these derived tables, which queries otherwise compute when needed; `analysis` for those that make joins unnecessary, `all` for all
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = on_demand_name)]
    with: Vec<String>,
    /// Convert everything again and replace the existing dataset
    #[arg(long)]
    overwrite: bool,
    /// Size of a Parquet file, which ranks share; one that is larger has a single row group
    #[arg(long, value_name = "MIB", default_value_t = PACK_BYTES >> 20, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pack: u64,
}

/// What traces are converted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ConvertFormat {
    /// Parquet, with a manifest: an input like any other
    #[default]
    Parquet,
    /// Comma-separated values
    Csv,
    /// An array of records
    Json,
    /// Arrow IPC
    Arrow,
    /// A trace for Perfetto; compressed if its name ends in .gz or .zst
    Pftrace,
    /// An OTF2 archive for Vampir, Score-P and Pipit
    Otf2,
    /// Chrome trace events as PyTorch writes them, for HTA: a file for each rank
    ChromeJson,
    /// The CSV files of rocprofv3 or of `rocpd convert`
    Rocprofv3Csv,
}

impl ConvertArguments {
    fn write_timeline(
        &self,
        format: ViewerFormat,
        registry: &Registry,
        global: &GlobalArguments,
    ) -> Result<u8, Failure> {
        if !self.with.is_empty() || self.overwrite {
            let message = "--with and --overwrite are about tables; leave them out of time lines";
            return Err(Failure::Usage(message.to_owned()));
        }
        self.timeline.write(&self.input, &self.output, format, registry, global)
    }

    /// Writes the CSV files of rocprofv3.
    fn write_rocprofv3(&self, global: &GlobalArguments) -> Result<u8, Failure> {
        self.timeline.refuse()?;
        if !self.with.is_empty() || self.overwrite {
            let message = "--with and --overwrite are about tables; leave them out of --to rocprofv3-csv";
            return Err(Failure::Usage(message.to_owned()));
        }
        let output = &self.output;
        check_place(&self.input, output, false)?;
        let trace = self.input.open(global, &Opening { exclude: Some(output), ..Opening::default() })?;
        messages::warn(&trace, global);
        let mut has_events = None;
        let written = write_directory(output, |directory| {
            let written = rocprofv3::write(&trace, self.csv_flavor, directory)?;
            has_events = Some(written.events > 0);
            anyhow::ensure!(written.events > 0, "there is nothing to list");
            Ok(written)
        });
        if has_events == Some(false) {
            return nothing_written(&trace, output, global);
        }
        let written = written?;
        print_written(output, global);
        if !global.quiet {
            messages::print_note(format_args!("{} rows in {} files", written.rows, written.files));
        }
        if messages::report_damage(&trace, global) {
            return Ok(PARTIAL);
        }
        Ok(if explain_all_unmatched(&trace, false, global)? { NO_DATA } else { DONE })
    }
}

/// Runs the verb.
///
/// # Errors
/// When the inputs cannot be used or the output cannot be written.
pub(crate) fn run(arguments: &ConvertArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    let output = &arguments.output;
    let format = match arguments.to {
        ConvertFormat::Parquet => TableFormat::Parquet,
        ConvertFormat::Csv => TableFormat::Csv,
        ConvertFormat::Json => TableFormat::Json,
        ConvertFormat::Arrow => TableFormat::Arrow,
        ConvertFormat::Pftrace => return arguments.write_timeline(ViewerFormat::Pftrace, registry, global),
        ConvertFormat::Otf2 => return arguments.write_timeline(ViewerFormat::Otf2, registry, global),
        ConvertFormat::Rocprofv3Csv => return arguments.write_rocprofv3(global),
        ConvertFormat::ChromeJson => return arguments.write_timeline(ViewerFormat::ChromeJson, registry, global),
    };
    arguments.timeline.refuse()?;
    if arguments.csv_flavor != Flavor::default() {
        return Err(Failure::Usage("--csv-flavor is about --to rocprofv3-csv; choose that".to_owned()));
    }
    check_output(output, arguments.overwrite).map_err(refusal)?;
    let trace = arguments.input.open(global, &Opening { exclude: Some(output), ..Opening::default() })?;
    messages::warn(&trace, global);
    let (with, left_out) = on_demand_tables(&arguments.with, trace.choice().chooses_rows());
    if let Some(table) = left_out.filter(|_| !global.quiet) {
        messages::print_note(format!("{table} is not kept: its figures are of the whole run, whatever filters choose"));
    }
    let progress = Progress::new(trace.members().len(), with.len(), global);
    let plan = Plan { output, format, with, overwrite: arguments.overwrite, pack_bytes: arguments.pack << 20 };
    let said = at_interruption(output, &progress);
    let outcome = convert(&trace, &plan, &progress);
    drop(said);
    progress.finish();
    let outcome = outcome.map_err(refusal)?;
    global.outbox.add(output);
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

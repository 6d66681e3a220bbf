//! `convert INPUT… -o DIR`: the whole trace as a dataset.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use flate2::write::GzEncoder;

use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL};
use crate::cli::options::filters::explain_unmatched;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{InputArguments, Opening};
use crate::cli::output::delivery::{check_file, deliver};
use crate::cli::output::messages;
use crate::cli::output::progress::Progress;
use crate::export::conversion::{
    Outcome, Plan, Refused, check_output, convert, finished_of, on_demand_name, on_demand_tables,
};
use crate::export::convert::TableFormat;
use crate::export::perfetto::{self, Arguments};
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
    /// Output directory, of pftrace a file; it appears or changes only when everything is written
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// File format
    #[arg(long, value_enum, default_value_t)]
    to: ConvertFormat,
    /// Arguments of the slices of pftrace
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    args: Arguments,
    /// Also write these derived tables, which queries otherwise compute when needed; `all` for all of them
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = on_demand_name)]
    with: Vec<String>,
    /// Convert everything again and replace the existing dataset
    #[arg(long)]
    overwrite: bool,
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
}

/// Runs the verb.
///
/// # Errors
/// When the inputs cannot be used or the output cannot be written.
pub(crate) fn run(arguments: &ConvertArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let output = &arguments.output;
    let format = match arguments.to {
        ConvertFormat::Parquet => TableFormat::Parquet,
        ConvertFormat::Csv => TableFormat::Csv,
        ConvertFormat::Json => TableFormat::Json,
        ConvertFormat::Arrow => TableFormat::Arrow,
        ConvertFormat::Pftrace => return arguments.write_pftrace(global),
    };
    if arguments.args != Arguments::default() {
        return Err(Failure::Usage("--args is about slices; choose --to pftrace".to_owned()));
    }
    check_output(output, arguments.overwrite).map_err(refusal)?;
    let trace = arguments.input.open(global, &Opening { exclude: Some(output), ..Opening::default() })?;
    messages::warn(&trace, global);
    let with = on_demand_tables(&arguments.with);
    let progress = Progress::new(trace.members().len(), with.len(), global);
    let plan = Plan { output, format, with, overwrite: arguments.overwrite };
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

impl ConvertArguments {
    /// Writes a trace for Perfetto.
    fn write_pftrace(&self, global: &GlobalArguments) -> Result<u8, Failure> {
        let output = &self.output;
        if !self.with.is_empty() || self.overwrite {
            return Err(Failure::Usage(
                "--with and --overwrite are about tables; leave them out of --to pftrace".to_owned(),
            ));
        }
        let is_standard_output = output.as_os_str() == "-";
        if !is_standard_output {
            if output.is_dir() {
                return Err(Failure::Usage(format!("{} is a directory; name a file with -o", output.display())));
            }
            if output.exists() && self.input.contain(output) {
                let shown = output.display();
                return Err(Failure::Usage(format!("{shown} is an input, which is never written; name another file")));
            }
            check_file(output)?;
        }
        let trace = self.input.open(global, &Opening::default())?;
        messages::warn(&trace, global);
        let mut summary = perfetto::Summary::default();
        deliver((!is_standard_output).then_some(output.as_path()), global, |_, out| {
            summary = match output.extension().and_then(|extension| extension.to_str()) {
                Some("gz") => {
                    let mut encoder = GzEncoder::new(out, flate2::Compression::fast());
                    let summary = perfetto::write(&trace, self.args, &mut encoder)?;
                    encoder.finish()?;
                    summary
                }
                Some("zst") => {
                    let mut encoder = zstd::Encoder::new(out, 3)?;
                    let summary = perfetto::write(&trace, self.args, &mut encoder)?;
                    encoder.finish()?;
                    summary
                }
                _ => perfetto::write(&trace, self.args, out)?,
            };
            Ok(())
        })?;
        if !global.quiet {
            for line in pftrace_notes(&summary) {
                messages::print_note(line);
            }
        }
        if messages::report_damage(&trace, global) {
            return Ok(PARTIAL);
        }
        let is_empty = summary.counts.slices == 0;
        Ok(if explain_unmatched(&trace, is_empty, global)? || is_empty { NO_DATA } else { DONE })
    }
}

/// What was written, and what is otherwise than it was recorded.
fn pftrace_notes(summary: &perfetto::Summary) -> Vec<String> {
    let (counts, omitted) = (&summary.counts, &summary.omitted);
    let mut lines = vec![format!(
        "{} slices, {} instants, {} counter values, {} flows on {} tracks, {:.1} MiB",
        counts.slices,
        counts.instants,
        counts.counter_values,
        counts.flows,
        counts.tracks,
        counts.bytes as f64 / 1_048_576.0
    )];
    let notes = [
        (omitted.without_start, "rows have no start and are left out"),
        (omitted.bad_ends, "rows end before they start and have no length in the file"),
        (omitted.overlaps, "slices overlap others of their thread and are on tracks beside it"),
        (omitted.skewed_flows, "kernels and copies start before their calls and have no arrow"),
    ];
    lines
        .extend(notes.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("note: {count} {what}")));
    if counts.slices > MANY_SLICES || counts.bytes > LARGE_BYTES {
        lines.push(
            "note: browsers hold few such files; serve it with `trace_processor server http FILE`, or cut it with --window, --rank or --min-duration"
                .to_owned(),
        );
    }
    lines
}

/// Slices and bytes above which browsers run out of memory.
const MANY_SLICES: u64 = 4_000_000;
const LARGE_BYTES: u64 = 300 << 20;

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

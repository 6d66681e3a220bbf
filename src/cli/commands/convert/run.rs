//! `convert INPUT… -o DIR`: the whole trace as a dataset.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches as _, ValueEnum};

use super::viewers::{TimelineArguments, ViewerFormat, check_place, nothing_written};
use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL, refuse};
use crate::cli::options::csv::CsvArguments;
use crate::cli::options::filters::{end, end_of_all, explain_unmatched, note_untouched};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{InputArguments, Opening};
use crate::cli::options::shards::ShardArguments;
use crate::cli::output::delivery::print_written;
use crate::cli::output::messages::{self, note};
use crate::cli::output::progress::Progress;
use wavesieve_engine::Registry;
use wavesieve_export::atomic::write_directory;
use wavesieve_export::compute_database;
use wavesieve_export::conversion::{
    Destination, FinishPlan, Key, Outcome, Plan, Refused, ShardPlan, Share, check_output, convert, finish, finished_of,
    on_demand_name, on_demand_tables, refuse_share, shard_path,
};
use wavesieve_export::convert::TableFormat;
use wavesieve_export::dataset::PACK_BYTES;
use wavesieve_export::delimited::Formulas;
use wavesieve_export::rocprofv3::{self, Flavor};
use wavesieve_input::stores::Address;
use wavesieve_input::{AtInterruption, Candidate, TemporaryFolder};
use wavesieve_model::schema::Table;
use wavesieve_tables::trace::selection::{Window, unmatched_in_share};
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Convert traces to Parquet, CSV, JSON or Arrow, or to a trace for Perfetto
#[derive(Args, Clone, Debug)]
#[command(after_help = "You can use the Parquet dataset as an input, and open it in pandas, DuckDB and polars.

If the dataset exists, convert updates it: ranks whose files did not change (size, time, first and
last MiB) are reused if the same version converted them with the same options. If a conversion is
interrupted, rerun the same command to resume.

Several processes, on one node or many, can share a conversion: each runs the same command with
--shard I/N, in any order. When all are done, the same command with --finish writes the dataset.

Examples:
  wavesieve convert traces/ -o dataset
  wavesieve convert traces/ -o tables --to csv --with launches
  wavesieve convert traces/ --to pftrace -o trace.pftrace
  wavesieve convert traces/ -o dataset --shard 1/2")]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    input: InputArguments,
    /// Output directory or address of one (s3://, gs://, az://, http://), of pftrace a file unless --split; it appears or changes only when everything is written
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
    #[command(flatten)]
    csv: CsvArguments,
    /// Also write these derived tables, which queries otherwise compute when needed; `analysis` for those that make joins unnecessary, `all` for all
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = on_demand_name)]
    with: Vec<String>,
    /// Convert everything again and replace the existing dataset
    #[arg(long)]
    overwrite: bool,
    /// Size of a Parquet file, which ranks share; one that is larger has a single row group
    #[arg(long, value_name = "MIB", default_value_t = PACK_BYTES >> 20, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pack: u64,
    #[command(flatten)]
    shards: ShardArguments,
}

/// A format that traces are converted to.
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
    /// The analysis database of rocprofiler-compute, schema 2.3.0: dispatches, metrics, rooflines and counts of PC samples
    RocprofComputeDb,
}

impl ConvertArguments {
    fn write_timeline(
        &self,
        format: ViewerFormat,
        registry: &Registry,
        global: &GlobalArguments,
    ) -> Result<u8, Failure> {
        if !self.with.is_empty() || self.overwrite {
            refuse!("--with and --overwrite are about tables; leave them out of time lines");
        }
        self.timeline.write(&self.input, &self.output, format, registry, global)
    }

    /// Writes the analysis database of rocprofiler-compute.
    fn write_compute_database(&self, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
        self.timeline.refuse()?;
        if !self.with.is_empty() || self.overwrite || self.csv_flavor != Flavor::default() {
            refuse!("--with, --overwrite and --csv-flavor are about tables; leave them out of --to rocprof-compute-db");
        }
        let output = &self.output;
        check_place(&self.input, output, true)?;
        let trace = self.input.open(global, &Opening { exclude: Some(output), ..Opening::default() })?;
        messages::warn(&trace, global);
        note_untouched(&trace, compute_database::READ.into_iter(), global);
        let written = compute_database::write(&trace, registry, output)?;
        if written.dispatches == 0 {
            return nothing_written(&trace, output, global);
        }
        print_written(output, global);
        if !global.quiet {
            let compute_database::Written { kernels, dispatches, values, samples, recorded } = written;
            messages::print_note(format_args!(
                "{kernels} kernels, {dispatches} dispatches, {values} values of metrics, {samples} PC samples"
            ));
            if recorded > 0 {
                messages::print_note(format_args!(
                    "{recorded} values that an analysis database states are not written again; keep that database"
                ));
            }
        }
        end_of_all(&trace, global)
    }

    fn write_rocprofv3(&self, global: &GlobalArguments) -> Result<u8, Failure> {
        self.timeline.refuse()?;
        if !self.with.is_empty() || self.overwrite {
            refuse!("--with and --overwrite are about tables; leave them out of --to rocprofv3-csv");
        }
        if self.csv.formulas() == Formulas::Defused {
            refuse!("--csv-safe changes texts, and --to rocprofv3-csv writes the files of rocprofv3; leave one out");
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
        note!(global, "{} rows in {} files", written.rows, written.files);
        end_of_all(&trace, global)
    }
}

pub(crate) fn run(matches: &ArgMatches, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    let arguments = ConvertArguments::from_arg_matches(matches).map_err(Failure::usage)?;
    if arguments.to != ConvertFormat::Parquet {
        return convert_to(&arguments, registry, global);
    }
    let is_given = matches.value_source("unit") == Some(ValueSource::CommandLine);
    convert_to(&ConvertArguments { input: input_of_dataset(&arguments, is_given)?, ..arguments }, registry, global)
}

/// The inputs of a dataset without a unit of work, unless filters need it: whatever a dataset keeps is about the unit
/// with the strongest evidence.
fn input_of_dataset(arguments: &ConvertArguments, is_given: bool) -> Result<InputArguments, Failure> {
    let filters = arguments.input.filters()?;
    let is_steady = filters.window.as_ref().is_some_and(Window::is_steady);
    match filters.unit {
        unit if unit.is_auto() => Ok(arguments.input.clone()),
        unit if filters.iterations.is_some() || is_steady => {
            if !arguments.with.is_empty() {
                refuse!("the tables of --with would be about --unit {unit}; leave out one of them");
            }
            Ok(arguments.input.clone())
        }
        _ if is_given => refuse!(
            "a dataset has no unit of work of its own; leave --unit out, and choose one when you read the dataset"
        ),
        _ => Ok(arguments.input.without_unit()),
    }
}

fn convert_to(arguments: &ConvertArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    let output = &arguments.output;
    if arguments.shards.are_given() && arguments.to != ConvertFormat::Parquet {
        refuse!("--shard and --finish are about --to parquet; leave out --to");
    }
    let format = match arguments.to {
        ConvertFormat::Parquet => TableFormat::Parquet,
        ConvertFormat::Csv => match arguments.csv.formulas() {
            Formulas::Kept => TableFormat::Csv,
            Formulas::Defused => TableFormat::SafeCsv,
        },
        ConvertFormat::Json => TableFormat::Json,
        ConvertFormat::Arrow => TableFormat::Arrow,
        ConvertFormat::Pftrace => return arguments.write_timeline(ViewerFormat::Pftrace, registry, global),
        ConvertFormat::Otf2 => return arguments.write_timeline(ViewerFormat::Otf2, registry, global),
        ConvertFormat::Rocprofv3Csv => return arguments.write_rocprofv3(global),
        ConvertFormat::RocprofComputeDb => return arguments.write_compute_database(registry, global),
        ConvertFormat::ChromeJson => return arguments.write_timeline(ViewerFormat::ChromeJson, registry, global),
    };
    arguments.timeline.refuse()?;
    if arguments.csv_flavor != Flavor::default() {
        refuse!("--csv-flavor requires --to rocprofv3-csv");
    }
    let address = output.to_str().map_or(Ok(None), Address::parse);
    if let Some(address) = address.map_err(Failure::usage)? {
        return upload(arguments, &address, format, global);
    }
    check_output(output, arguments.overwrite).map_err(refusal)?;
    if arguments.shards.finish() {
        return finish_shards(arguments, global);
    }
    let share = arguments.shards.share()?;
    let (trace, with) = open(arguments, output, share, global)?;
    let (overwrite, pack_bytes) = (arguments.overwrite, arguments.pack << 20);
    let own = trace.own_members().count();
    let progress = Progress::new(own, with.len(), global);
    if let Some(share) = share {
        refuse_share(&trace, &with).map_err(refusal)?;
        let place = shard_path(output, share)?;
        let unread = unread(&arguments.input.candidates(output)?, &trace);
        let unmatched = if own > 0 { Some(unmatched_in_share(&trace)?) } else { None };
        let (rank_from, unmatched) = (arguments.input.rank_from(), unmatched.as_deref());
        let shard = Some(ShardPlan { share, unread: &unread, rank_from, unmatched });
        let plan = Plan { output: &place, format, with, overwrite, pack_bytes, shard };
        let outcome = run_plan(&trace, &plan, progress)?;
        note!(global, "{}", summary(&format!("{share} of {}", output.display()), own, &outcome));
        return exit_of_shard(&trace, global);
    }
    let plan = Plan { output, format, with, overwrite, pack_bytes, shard: None };
    let outcome = run_plan(&trace, &plan, progress)?;
    global.outbox.add(output);
    note!(global, "{}", summary(&output.display().to_string(), own, &outcome));
    end(&trace, outcome.written.events == 0, global)
}

/// Opens the inputs of a conversion, and the requested derived tables.
fn open(
    arguments: &ConvertArguments,
    exclude: &Path,
    share: Option<Share>,
    global: &GlobalArguments,
) -> Result<(Trace, Vec<&'static Table>), Failure> {
    let trace = arguments.input.open(global, &Opening { exclude: Some(exclude), share, ..Opening::default() })?;
    messages::warn(&trace, global);
    let (with, left_out) = on_demand_tables(&arguments.with, trace.choice().chooses_rows());
    if let Some(table) = left_out {
        note!(global, "{table} is not kept: its figures are of the whole run, whatever filters choose");
    }
    Ok((trace, with))
}

/// Converts to a temporary folder and uploads the dataset to a store.
fn upload(
    arguments: &ConvertArguments,
    address: &Address,
    format: TableFormat,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    if format != TableFormat::Parquet {
        refuse!("{address}: only datasets are sent to stores; leave out --to");
    }
    if arguments.shards.are_given() {
        let advice = "convert in shards to a shared file system, and copy the finished dataset";
        refuse!("{address}: shards are not sent to stores; {advice}");
    }
    let destination = Destination::open(address, arguments.overwrite).map_err(refusal)?;
    let folder = TemporaryFolder::new()?;
    let output = folder.path().join("dataset");
    let (trace, with) = open(arguments, &output, None, global)?;
    let own = trace.own_members().count();
    let progress = Progress::new(own, with.len(), global);
    let (pack_bytes, overwrite) = (arguments.pack << 20, arguments.overwrite);
    let outcome =
        convert(&trace, &Plan { output: &output, format, with, overwrite, pack_bytes, shard: None }, &progress);
    progress.finish();
    let outcome = outcome.map_err(refusal)?;
    if !overwrite {
        destination.refuse_other(&output).map_err(refusal)?;
    }
    let sent = destination.send(&output).map_err(refusal)?;
    if !global.quiet {
        let done = summary(&address.to_string(), own, &outcome);
        let (count, of, mebibytes) = (sent.sent, sent.files, sent.bytes as f64 / 1_048_576.0);
        let deleted = if sent.deleted > 0 { format!(", {} deleted", sent.deleted) } else { String::new() };
        messages::print_note(format_args!("{done}; sent {count} of {of} files, {mebibytes:.1} MiB{deleted}"));
    }
    end(&trace, outcome.written.events == 0, global)
}

/// Converts, and reports how to continue if the program is interrupted.
fn run_plan(trace: &Trace, plan: &Plan<'_>, progress: Progress) -> Result<Outcome, Failure> {
    let said = at_interruption(plan.output, &progress);
    let outcome = convert(trace, plan, &progress);
    drop(said);
    progress.finish();
    outcome.map_err(refusal)
}

/// The files from which no process is read.
fn unread(candidates: &[Candidate], trace: &Trace) -> Vec<String> {
    let read: BTreeSet<&Path> =
        trace.members().iter().flat_map(|member| member.files.iter()).map(PathBuf::as_path).collect();
    candidates.iter().filter(|candidate| !read.contains(&*candidate.path)).map(Candidate::shown).collect()
}

/// The exit code of a shard: processes of other shards do not matter.
fn exit_of_shard(trace: &Trace, global: &GlobalArguments) -> Result<u8, Failure> {
    let own: BTreeSet<i64> = trace.own_members().map(|member| member.process.process).collect();
    let is_of = |member: &TraceProcess, path: &str| {
        member.process.facts.path == path || member.files.iter().any(|file| file == Path::new(path))
    };
    let others: Vec<&TraceProcess> =
        trace.members().iter().filter(|member| !own.contains(&member.process.process)).collect();
    let mut damage = trace.damage();
    damage.retain(|damage| !others.iter().any(|member| is_of(member, &damage.path)));
    if messages::list_damage(&damage, global) {
        return Ok(PARTIAL);
    }
    Ok(if trace.members().is_empty() && explain_unmatched(trace, true, global)? { NO_DATA } else { DONE })
}

fn finish_shards(arguments: &ConvertArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let (input, output) = (&arguments.input, &arguments.output);
    let choice = input.filters()?;
    let (with, _) = on_demand_tables(&arguments.with, choice.chooses_rows());
    let plan = FinishPlan {
        output,
        key: Key::new(&input.categories()?, &choice, TableFormat::Parquet, &with),
        with,
        pack_bytes: arguments.pack << 20,
        partial: arguments.shards.partial(),
        overwrite: arguments.overwrite,
        candidates: &input.candidates(output)?,
        rank_from: input.rank_from(),
        metrics: &input.metrics()?,
    };
    let finished = finish(&plan).map_err(refusal)?;
    global.outbox.add(output);
    if !global.quiet {
        let done = summary(&output.display().to_string(), finished.processes, &finished.outcome);
        let noun = if finished.shards == 1 { "shard" } else { "shards" };
        let from = if finished.shards > 0 { format!("; from {} {noun}", finished.shards) } else { String::new() };
        messages::print_note(format_args!("{done}{from}"));
    }
    if messages::list_damage(&finished.damage, global) {
        return Ok(PARTIAL);
    }
    let has_rows = finished.outcome.written.events > 0;
    let mut unmatched = finished.unmatched;
    if unmatched.is_empty() && !has_rows && (choice.chooses_rows() || choice.ranks.is_some()) {
        unmatched.push("nothing matches the filters".to_owned());
    }
    for sentence in &unmatched {
        note!(global, "{}: {sentence}", if has_rows { "no match" } else { "no rows" });
    }
    Ok(if unmatched.is_empty() { DONE } else { NO_DATA })
}

/// Turns an output that cannot be written into wrong usage.
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

/// A one-line summary of the conversion.
fn summary(shown: &str, processes: usize, outcome: &Outcome) -> String {
    let (rows, files) = (outcome.written.rows, outcome.written.files);
    let mebibytes = outcome.written.bytes as f64 / 1_048_576.0;
    let noun = if processes == 1 { "process" } else { "processes" };
    let content = format!("{processes} {noun}, {rows} rows, {files} files, {mebibytes:.1} MiB");
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

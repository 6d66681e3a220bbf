//! Inputs and output of commands that write rocpd databases.

use std::path::Path;

use clap::Args;
use regex::Regex;

use super::global::GlobalArguments;
use crate::cli::exit::{Failure, refuse};
use crate::cli::output::delivery::check_file;
use crate::cli::output::messages::{self, note};
use wavesieve_export::rocpd::{DamagedSource, Written, check_inputs};
use wavesieve_export::target::is_same_file;
use wavesieve_input::{InputError, LoadOptions, OtherInput, RocpdFile, load, rocpd_databases};
use wavesieve_tables::trace::Trace;

/// The databases that a command reads as a whole.
#[derive(Args, Clone, Debug)]
pub(crate) struct DatabaseArguments {
    /// rocpd databases, directories (searched recursively), .rpdb packages, index files and glob patterns
    #[arg(value_name = "INPUT")]
    inputs: Vec<String>,
    /// Same as INPUT, for rocpd command lines
    #[arg(short = 'i', long = "input", value_name = "INPUT", num_args = 1..)]
    more_inputs: Vec<String>,
    /// Take the rank from the path: the first group of this regular expression, or its whole match if it has no group
    #[arg(long, value_name = "REGEX", help_heading = "Input")]
    rank_from: Option<String>,
}

impl DatabaseArguments {
    pub(crate) fn databases(&self, global: &GlobalArguments) -> Result<Vec<RocpdFile>, Failure> {
        let inputs: Vec<String> = self.inputs.iter().chain(&self.more_inputs).cloned().collect();
        if inputs.is_empty() {
            refuse!("no input; pass a rocpd database, directory or glob");
        }
        databases(&inputs, global)
    }

    /// Returns whether the ranks come from the paths.
    pub(crate) fn names_ranks(&self) -> bool {
        self.rank_from.is_some()
    }

    /// Opens the trace of the databases, which knows their ranks.
    pub(crate) fn trace(&self, databases: &[RocpdFile], global: &GlobalArguments) -> Result<Trace, Failure> {
        let wrong = |text: &String| {
            Failure::Usage(format!("invalid --rank-from `{text}`: not a regular expression; try 'rank(\\d+)'"))
        };
        let rank_from = self.rank_from.as_ref().map(|text| Regex::new(text).map_err(|_| wrong(text))).transpose()?;
        let options =
            LoadOptions { rank_from, threads: global.threads(), jobs: global.jobs(), ..LoadOptions::builtin() };
        Ok(load(&paths(databases), options)?)
    }
}

pub(crate) fn paths(databases: &[RocpdFile]) -> Vec<String> {
    databases.iter().map(RocpdFile::shown).collect()
}

/// Finds the rocpd databases among inputs, each process once.
///
/// # Errors
/// When a named input is not a rocpd database, a process occurs twice, or versions do not match.
pub(crate) fn databases(inputs: &[String], global: &GlobalArguments) -> Result<Vec<RocpdFile>, Failure> {
    let found = rocpd_databases(inputs)?;
    let refused: Vec<&OtherInput> =
        found.others.iter().filter(|other| other.named || found.databases.is_empty()).collect();
    if !refused.is_empty() || found.databases.is_empty() {
        let reason = |other: &&OtherInput| {
            let convert = if other.is_trace { "; `wavesieve convert` reads it" } else { "" };
            (other.path.display().to_string(), format!("no rocpd database but {}{convert}", other.what))
        };
        return Err(InputError::NoTrace { reasons: refused.iter().map(reason).collect() }.into());
    }
    let notes: Vec<String> = found
        .others
        .iter()
        .map(|other| format!("note: {} is left out: {}, no rocpd database", other.path.display(), other.what))
        .collect();
    if !global.quiet {
        messages::print_notes(&notes, "note: ", global);
    }
    if let Some(note) = check_inputs(&found.databases).map_err(Failure::Usage)? {
        note!(global, "note: {note}");
    }
    Ok(found.databases)
}

/// Rejects an output that cannot hold a database, or is one of the inputs.
pub(crate) fn check_database_output(output: &Path, databases: &[RocpdFile]) -> Result<(), Failure> {
    let shown = output.display();
    if output.as_os_str() == "-" || check_file(output)?.is_stream() {
        refuse!("a database cannot be written to {shown}; name a file with -o");
    }
    if databases.iter().any(|database| is_same_file(&database.path, output)) {
        refuse!("{shown} is an input, which is never written; name another file");
    }
    Ok(())
}

/// The failure of writing a database: a damaged input, or anything else.
pub(crate) fn writing_failure(error: anyhow::Error) -> Failure {
    match error.downcast::<DamagedSource>() {
        Ok(DamagedSource(path, cause)) => {
            let reason = format!("{cause}; nothing is written, `wavesieve convert` keeps what can be read");
            InputError::Damaged { reasons: vec![(path, reason)] }.into()
        }
        Err(error) => Failure::Other(error),
    }
}

/// Reports the written file.
pub(crate) fn print_summary(output: &Path, written: &Written, global: &GlobalArguments) {
    global.outbox.add(output);
    if global.quiet {
        return;
    }
    for note in &written.notes {
        messages::print_note(format_args!("note: {note}"));
    }
    let noun = if written.partitions == 1 { "process" } else { "processes" };
    messages::print_note(format_args!(
        "wrote {}: {} {noun}, {} rows, {} events, {:.1} MiB",
        output.display(),
        written.partitions,
        written.rows,
        written.events,
        written.bytes as f64 / 1_048_576.0
    ));
}

//! `merge INPUT… -o FILE`: many rocpd databases in one.

use std::path::PathBuf;

use clap::Args;

use crate::cli::exit::{DONE, Failure, PARTIAL};
use crate::cli::options::database_inputs::{DatabaseArguments, check_database_output, print_summary, writing_failure};
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::messages;
use wavesieve_export::rocpd::merge;

/// Join rocpd databases into one
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Each process keeps its guid, its ids and tables of its own, as `rocpd merge` writes them; views join
the tables of all processes. Any number of databases can be joined. A process that two databases
hold is refused.

The recorded environment and the profiler's configuration may hold secrets and are left out. The
rank that the environment names is kept.

Examples:
  wavesieve merge traces/node0 traces/node1 -o merged.db
  wavesieve merge 'traces/node0/*_results.db' -o node0.db --keep-environment"
)]
pub(crate) struct MergeArguments {
    #[command(flatten)]
    input: DatabaseArguments,
    /// Database to write; it appears only when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Keep the recorded environment and profiler configuration of processes, which may hold secrets
    #[arg(long)]
    keep_environment: bool,
}

pub(crate) fn run(arguments: &MergeArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let output = &arguments.output;
    let databases = arguments.input.databases(global)?;
    check_database_output(output, &databases)?;
    let trace = arguments.input.trace(&databases, global)?;
    messages::warn(&trace, global);
    let written = merge(&databases, &trace, output, arguments.keep_environment).map_err(writing_failure)?;
    print_summary(output, &written, global);
    Ok(if messages::report_damage(&trace, global) { PARTIAL } else { DONE })
}

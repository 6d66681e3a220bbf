//! `trim INPUT… -o FILE`: writes a part of rocpd databases as one database.

use std::path::PathBuf;

use clap::Args;

use super::convert::nothing_written;
use crate::cli::exit::{Failure, refuse};
use crate::cli::options::database_inputs::{check_database_output, databases, paths, print_summary, writing_failure};
use crate::cli::options::filters::end_of_all;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{InputArguments, Opening};
use crate::cli::output::messages;
use wavesieve_export::rocpd::trim;
use wavesieve_input::RocpdFile;
use wavesieve_tables::trace::selection::{Filter, Filters};

/// Write the chosen part of rocpd databases as a smaller rocpd database
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "The database holds the chosen rows and all that they refer to: events, arguments, counters, names,
kernel symbols, threads, queues and streams. It has the tables of the input and AMD's views, so that
AMD's tools open it.

A chosen kernel or copy keeps the call that launched it, also outside the window. If a filter
chooses among kernels (--kernel, --category) or work (--gpu, --stream, --queue), calls and ranges
are kept only if they launched chosen work or enclose such a call.

The recorded environment and the profiler's configuration may hold secrets and are left out. The
rank that the environment names is kept.

Examples:
  wavesieve trim traces/rank0_results.db -o part.db --window 40%:60%
  wavesieve trim traces/node0 traces/node1 -o part.db --window +1ms:+2ms --window-mode inside
  wavesieve trim traces/node0 -o nccl.db --rank 0 --kernel nccl"
)]
pub(crate) struct TrimArguments {
    #[command(flatten)]
    input: InputArguments,
    /// Database to write; it appears only when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Keep the recorded environment and profiler configuration of processes, which may hold secrets
    #[arg(long)]
    keep_environment: bool,
}

pub(crate) fn run(arguments: &TrimArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let (input, output) = (&arguments.input, &arguments.output);
    let filters = input.filters()?;
    let databases = databases(&input.named()?, global)?;
    check_filters(&filters, &databases)?;
    check_database_output(output, &databases)?;
    let trace = input.with_inputs(paths(&databases)).open(global, &Opening::default())?;
    messages::warn(&trace, global);
    if trace.members().is_empty() {
        return nothing_written(&trace, output, global);
    }
    let written = trim(&databases, &trace, output, arguments.keep_environment).map_err(writing_failure)?;
    if written.events == 0 {
        return nothing_written(&trace, output, global);
    }
    print_summary(output, &written, global);
    end_of_all(&trace, global)
}

/// Rejects filters on data that a database does not have.
fn check_filters(filters: &Filters, databases: &[RocpdFile]) -> Result<(), Failure> {
    if filters.has(Filter::Where) {
        refuse!("--where is about tables of queries, not of databases; choose with the other filters");
    }
    let track_based =
        databases.iter().find(|database| database.partitions.iter().any(|partition| partition.is_track_based));
    let of_place = [Filter::Gpu, Filter::Stream, Filter::Queue, Filter::Domain];
    match (track_based, of_place.into_iter().find(|filter| filters.has(*filter))) {
        (Some(database), Some(filter)) => refuse!(
            "{} cannot choose in {}, whose schema keeps this in tracks; choose with --window or --kernel",
            filter.flag(),
            database.shown()
        ),
        _ => Ok(()),
    }
}

//! `mcp [DIR…]`: a server for agents.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::exit::{DONE, Failure, refuse};
use crate::cli::memory;
use crate::cli::options::global::GlobalArguments;
use wavesieve_agent::mcp::{McpOptions, serve, work};
use wavesieve_engine::Registry;

/// Serve agents over the Model Context Protocol
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Speaks the protocol on standard input and output until the input ends. Tools are info, check, analyze, findings, tables, table, plot, sql, compare, scan and plan; tables and queries are resources. Reads only what lies in the directories, wherever links lead, and writes nothing. The settings for agents: wavesieve schema skill.

Examples:
  wavesieve mcp traces/
  wavesieve mcp traces/ fixtures/source --time-limit 300"
)]
pub(crate) struct McpArguments {
    /// Directories with traces and source code, in which every path must lie; by default the current directory
    #[arg(value_name = "DIR")]
    directories: Vec<PathBuf>,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400),
          help_heading = "Limits")]
    time_limit: u64,
    /// Rows of a table in an answer, at most
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..),
          help_heading = "Limits")]
    max_rows: u32,
    /// Size of an answer's text, at most, such as 64K; pictures come on top
    #[arg(long, value_name = "SIZE", default_value = "64K", value_parser = answer_size, help_heading = "Limits")]
    max_bytes: u64,
    /// Run the tools for a server
    #[arg(long, hide = true)]
    worker: bool,
}

/// Minimum size: notes and errors need some room.
const SMALLEST: u64 = 4096;

fn answer_size(text: &str) -> Result<u64, String> {
    let bytes = memory::parse(text)?;
    if bytes < SMALLEST { Err("give at least 4K".to_owned()) } else { Ok(bytes) }
}

/// Memory of the program itself, and of each thread that polars starts.
const OWN_MEMORY: u64 = 128 << 20;
const THREAD_MEMORY: u64 = 4 << 20;

/// The smallest limit with which a tool can run.
fn smallest_memory() -> u64 {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    OWN_MEMORY + threads * THREAD_MEMORY
}

pub(crate) fn run(arguments: &McpArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    let smallest = smallest_memory();
    if let Some(bytes) = global.memory_limit().filter(|bytes| *bytes < smallest) {
        let least = smallest.div_ceil(1 << 20);
        refuse!("invalid --memory-limit of {bytes} bytes: give at least {least}M for mcp");
    }
    let jobs = global.jobs();
    let options = McpOptions {
        directories: arguments.directories.clone(),
        max_rows: arguments.max_rows as usize,
        max_bytes: usize::try_from(arguments.max_bytes).unwrap_or(usize::MAX),
        time_limit: Duration::from_secs(arguments.time_limit),
        // Reading keeps to the budget by estimate; results need more memory on top.
        memory_bytes: jobs.memory_bytes.max(smallest).saturating_mul(2),
        registry: registry.clone(),
        threads: global.threads(),
        jobs,
    };
    let done = if arguments.worker { work(&options) } else { serve(&options) };
    match done {
        Ok(()) => Ok(DONE),
        Err(failure) if failure.is_usage() => Err(Failure::Usage(failure.message)),
        Err(failure) => Err(Failure::Other(anyhow::anyhow!(failure.message))),
    }
}

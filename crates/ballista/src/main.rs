//! `wavesieve-ballista`: runs statements of wavesieve on a cluster of Apache DataFusion Ballista.

mod query;
mod request;
mod servers;
mod tables;
mod texts;
mod unions;

use std::ffi::OsString;
use std::future::Future;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Stack size of threads: plans of statements with many steps nest deeply, and are processed by recursion.
const STACK_BYTES: usize = 64 << 20;

/// Run statements of wavesieve on Apache DataFusion Ballista
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    program: Program,
}

#[derive(Subcommand)]
enum Program {
    /// Start a scheduler, with the options of Ballista's own
    #[command(disable_help_flag = true)]
    Scheduler(Options),
    /// Start an executor, with the options of Ballista's own
    #[command(disable_help_flag = true)]
    Executor(Options),
    /// Run a statement: a request as JSON on standard input, its rows as an Arrow stream on standard output
    Query,
}

#[derive(clap::Args)]
struct Options {
    /// As Ballista takes them; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.program {
        Program::Scheduler(Options { options }) => run(servers::scheduler(options)),
        Program::Executor(Options { options }) => run(servers::executor(options)),
        Program::Query => run(query::answer()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", texts::one_line(&error));
            ExitCode::FAILURE
        }
    }
}

/// Runs work on threads with stacks that are large enough; the stack of the first thread is too small.
fn run(work: impl Future<Output = Result<()>> + Send + 'static) -> Result<()> {
    // SAFETY: no other thread runs yet. Threads that Ballista starts itself get their stack size from here.
    unsafe { std::env::set_var("RUST_MIN_STACK", STACK_BYTES.to_string()) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK_BYTES).build();
    let runtime = runtime.context("cannot start threads")?;
    runtime.block_on(runtime.spawn(work)).context("the work was given up")?
}

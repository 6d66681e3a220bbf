//! `interactive [INPUT…]`: explores a trace, one question at a time.

use std::path::PathBuf;

use clap::Args;

use crate::cli::command_line::CommandLine;
use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::looping::{LoopArguments, LoopRequest};
use wavesieve_engine::Registry;
use wavesieve_lab::interactive::sessions::SessionKind;

/// Analyze, change and profile again, with a menu
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Keeps what is found in a session, which --resume-session continues. If the source directory has earlier sessions, offers them. Works on a terminal, in a pipe, and with --answers or --yes without a person. Ctrl-C stops what runs and keeps the session; twice within two seconds ends the program.

Examples:
  wavesieve interactive traces/ --yes
  wavesieve interactive traces/ --source-dir fixtures/source --events events.jsonl --yes
  echo q | wavesieve interactive traces/"
)]
pub(crate) struct InteractiveArguments {
    /// Files, directories and glob patterns with traces; all of them are one trace
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Continue a session: its name, or the path of its file, also of rocpd
    #[arg(long, value_name = "ID", help_heading = "Session")]
    resume_session: Option<String>,
    #[command(flatten)]
    looping: LoopArguments,
}

pub(crate) fn run(
    arguments: &InteractiveArguments,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let (inputs, resume) = (arguments.inputs.clone(), arguments.resume_session.clone());
    let request = LoopRequest { kind: SessionKind::Interactive, inputs, resume, ..LoopRequest::default() };
    arguments.looping.run(request, registry, command, global)
}

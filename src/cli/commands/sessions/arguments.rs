//! The command line of `sessions`.

use clap::{Args, Subcommand, ValueEnum};

use super::clean::CleanArguments;
use super::export::ExportArguments;
use super::list::ListArguments;
use super::resume::ResumeArguments;
use super::show::ShowArguments;
use super::{clean, export, list, resume, show};
use crate::cli::command_line::CommandLine;
use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use wavesieve_engine::Registry;

/// List, show, continue, export and remove sessions
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Sessions of rocpd and rocinsight are listed as well, and can be continued; their files are never changed.

Examples:
  wavesieve sessions list
  wavesieve sessions list -f json
  wavesieve sessions clean --older-than 30 --yes"
)]
pub(crate) struct SessionsArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Clone, Debug)]
enum Action {
    /// List sessions, the newest first
    #[command(after_help = "Examples:
  wavesieve sessions list
  wavesieve sessions list --source-dir . -f json")]
    List(ListArguments),
    /// Show what happened in a session
    Show(ShowArguments),
    /// Continue a session, of `interactive` or of `workflow`
    Resume(Box<ResumeArguments>),
    /// Remove sessions with their traces, logs and checkpoints
    #[command(after_help = "Sessions in use, and those of rocpd, are kept. Source files are not touched.

Examples:
  wavesieve sessions clean --all --yes
  wavesieve sessions clean --older-than 30 --yes")]
    Clean(CleanArguments),
    /// Write a session, its changes as patches, and the files of a checkpoint to a directory
    Export(ExportArguments),
}

/// Form of a list or a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum SessionFormat {
    /// For the terminal
    #[default]
    Text,
    /// For scripts
    Json,
}

pub(crate) fn run(
    arguments: &SessionsArguments,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    match &arguments.action {
        Action::List(arguments) => list::run(arguments, global),
        Action::Show(arguments) => show::run(arguments, global),
        Action::Resume(arguments) => resume::run(arguments, registry, command, global),
        Action::Clean(arguments) => clean::run(arguments, global),
        Action::Export(arguments) => export::run(arguments, global),
    }
}

//! `sessions resume`.

use clap::Args;

use crate::cli::command_line::CommandLine;
use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::llm::LlmArguments;
use crate::cli::options::looping::{ChangeArguments, FaceArguments, LoopRequest, StoreArguments, run_loop};
use wavesieve_engine::Registry;

#[derive(Args, Clone, Debug)]
pub(super) struct ResumeArguments {
    /// Name of the session, or path of its file
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    changes: ChangeArguments,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    face: FaceArguments,
    #[command(flatten)]
    llm: LlmArguments,
}

/// Resumes a session as its own verb would.
pub(super) fn run(
    arguments: &ResumeArguments,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let ResumeArguments { id, changes, store, face, llm } = arguments;
    let kind = store.store()?.load(id)?.kind;
    let request = LoopRequest { kind, resume: Some(id.clone()), ..LoopRequest::default() };
    run_loop(request, changes, store, face, llm, registry, command, global)
}

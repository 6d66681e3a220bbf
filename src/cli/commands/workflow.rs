//! `workflow -- CMD`: profiles a program, analyzes and changes it, and measures again.

use clap::Args;

use crate::cli::command_line::CommandLine;
use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::looping::{LoopArguments, LoopRequest};
use wavesieve_engine::Registry;
use wavesieve_lab::interactive::sessions::SessionKind;

/// Profile a program, analyze, change it, measure again
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Runs the program under rocprofv3, reports what costs time, applies changes (an editor, --patch, or a model of --llm), builds, tests, and measures whether it got faster. Every state of the sources is a checkpoint in the git repository, next to its branches, and can be returned to. Commands run without a shell. The session can be left at any question, and continued.

Examples:
  wavesieve workflow --plan -- ./simulate --steps 10
  wavesieve workflow --plan --build 'make -j8' --test ./check.sh --runs 5 -- mpirun -n 4 ./simulate"
)]
pub(crate) struct WorkflowArguments {
    /// Iterations at most [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Changes")]
    iterations: Option<u32>,
    /// First profiling command, which starts with rocprofv3; by default the one that fits the program
    #[arg(long, value_name = "CMD", help_heading = "Changes")]
    profile: Option<String>,
    /// Print what would run, and run nothing
    #[arg(long, help_heading = "Changes", conflicts_with = "resume_session")]
    plan: bool,
    /// Continue a session: its name, or the path of its file, also of rocpd
    #[arg(long, value_name = "ID", help_heading = "Session", conflicts_with = "program")]
    resume_session: Option<String>,
    #[command(flatten)]
    looping: LoopArguments,
    /// Program to profile and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present = "resume_session")]
    program: Vec<String>,
}

pub(crate) fn run(
    arguments: &WorkflowArguments,
    registry: &Registry,
    command: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<u8, Failure> {
    let request = LoopRequest {
        kind: SessionKind::Workflow,
        application: arguments.program.clone(),
        resume: arguments.resume_session.clone(),
        iterations: arguments.iterations,
        profile: arguments.profile.clone(),
        is_plan: arguments.plan,
        ..LoopRequest::default()
    };
    arguments.looping.run(request, registry, command, global)
}

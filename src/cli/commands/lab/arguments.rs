//! The command line of `lab`.

use clap::{Args, Subcommand};

use super::autotune::AutotuneArguments;
use super::capture::CaptureArguments;
use super::code::CodeArguments;
use super::optimize::OptimizeArguments;
use super::profile::ProfileArguments;
use super::replay::ReplayArguments;
use super::{autotune, capture, code, optimize, profile, replay};
use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::messages::print_note;
use wavesieve_engine::Registry;
use wavesieve_lab::interactive::programs::withheld_variables;

/// Maximum number of names in a note.
const SHOWN_NAMES: usize = 8;

/// Measure a kernel, tune its parameters, change it and check it, capture and replay it
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  wavesieve lab code fixtures/code_object/kernels.hsaco
  wavesieve lab profile --plan --counters --arch gfx942 -- ./simulate
  wavesieve lab replay fixtures/capture --inspect")]
pub(crate) struct LabArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Clone, Debug)]
enum Action {
    /// Profile a program until its times are certain, and rank what limits its dominant kernel
    Profile(ProfileArguments),
    /// Find the fastest values of a program's parameters
    Autotune(AutotuneArguments),
    /// Change a kernel, and keep what is faster, has the same interface and computes the same
    Optimize(Box<OptimizeArguments>),
    /// Record dispatches of a program with their code and memory
    Capture(CaptureArguments),
    /// Run captured dispatches again, with their code or another
    Replay(ReplayArguments),
    /// List the kernels of code objects: resources, occupancy, arguments
    Code(CodeArguments),
}

pub(crate) fn run(arguments: &LabArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    if !matches!(arguments.action, Action::Replay(_) | Action::Code(_)) && !global.quiet {
        note_withheld(&withheld_variables());
    }
    match &arguments.action {
        Action::Profile(arguments) => profile::run(arguments, registry, global),
        Action::Autotune(arguments) => autotune::run(arguments, global),
        Action::Optimize(arguments) => optimize::run(arguments, registry, global),
        Action::Capture(arguments) => capture::run(arguments, global),
        Action::Replay(arguments) => replay::run(arguments, global),
        Action::Code(arguments) => code::run(arguments, global),
    }
}

/// Reports variables that the program will not see.
fn note_withheld(names: &[String]) {
    if names.is_empty() {
        return;
    }
    let shown = names.iter().take(SHOWN_NAMES).cloned().collect::<Vec<_>>().join(", ");
    let others = names.len().saturating_sub(SHOWN_NAMES);
    let others = if others > 0 { format!(" and {others} others") } else { String::new() };
    print_note(format_args!(
        "not handed on to the program: {shown}{others}; put NAME=VALUE before it to set a variable"
    ));
}

//! `completions SHELL`: what a shell needs to complete commands, options, values and queries.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::cli::exit::{DONE, Failure};
use crate::cli::output::messages::print;

/// Generate shell completions
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "bash: source <(wavesieve completions bash); zsh: write the output to _wavesieve in a directory of fpath

Examples:
  wavesieve completions bash
  wavesieve completions zsh > _wavesieve
  wavesieve completions fish > wavesieve.fish"
)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArguments, mut command: Command) -> Result<u8, Failure> {
    let name = command.get_name().to_owned();
    // The generator panics if it cannot write, which does not happen in memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    print(&script)?;
    Ok(DONE)
}

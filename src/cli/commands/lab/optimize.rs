//! `lab optimize`.

use clap::{Args, Command};

use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use crate::engine::Registry;

#[derive(Args, Clone, Debug)]
pub(super) struct OptimizeArguments {}

/// Runs the verb.
///
/// # Errors
/// When the options cannot be used, or the work fails.
pub(super) fn run(
    _arguments: &OptimizeArguments,
    _registry: &Registry,
    _command: &Command,
    _global: &GlobalArguments,
) -> Result<u8, Failure> {
    Err(Failure::Usage("not there yet".to_owned()))
}

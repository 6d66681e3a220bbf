//! `lab replay`.

use clap::Args;

use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;

#[derive(Args, Clone, Debug)]
pub(super) struct ReplayArguments {}

/// Runs the verb.
///
/// # Errors
/// When the options cannot be used, or the work fails.
pub(super) fn run(_arguments: &ReplayArguments, _global: &GlobalArguments) -> Result<u8, Failure> {
    Err(Failure::Usage("not there yet".to_owned()))
}

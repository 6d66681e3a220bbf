//! `check INPUT…`: trace health; the exit code says whether there is an error.

use clap::Args;

use super::answer::check_output;
use super::arguments::{CacheArguments, GlobalArguments, InputArguments, Opening, OutputArguments};
use super::exit::{DONE, EXCEEDED, Failure, NO_DATA, PARTIAL};
use super::filters::{explain_unmatched, note_untouched};
use super::{answer, messages};
use crate::engine::{QueryOptions, Registry, run_query};

/// Check the health of a trace: every anomaly, counted
#[derive(Args, Clone, Debug)]
#[command(after_help = "Exits with 4 when an anomaly is an error.

Examples:
  wavesieve check traces/
  wavesieve check traces/rank0_results.db -f json")]
pub struct CheckArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    cache: CacheArguments,
    #[command(flatten)]
    output: OutputArguments,
}

/// Runs the verb.
///
/// # Errors
/// When the inputs cannot be used.
pub fn run(arguments: &CheckArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    check_output(&arguments.input, &arguments.output)?;
    let trace = arguments.input.open(global, &Opening { cache: Some(&arguments.cache), ..Opening::default() })?;
    messages::describe(&trace, global);
    note_untouched(&trace, ["anomalies"].into_iter(), global);
    let result = run_query(&trace, registry.get("trace_health")?, &QueryOptions::default())?;
    let severities = result.frame.column("severity").map_err(anyhow::Error::from)?;
    let error = severities.str().map_err(anyhow::Error::from)?.iter().any(|severity| severity == Some("error"));
    answer::write(result, &arguments.output, global)?;
    if messages::report_damage(&trace, global) {
        return Ok(PARTIAL);
    }
    if explain_unmatched(&trace, false, global)? {
        return Ok(NO_DATA);
    }
    Ok(if error { EXCEEDED } else { DONE })
}

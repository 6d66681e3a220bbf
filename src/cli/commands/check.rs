//! `check INPUT…`: reports trace anomalies; the exit code reports whether there is an error.

use clap::Args;
use polars::prelude::DataFrame;

use crate::cli::exit::{DONE, EXCEEDED, Failure, NO_DATA, PARTIAL};
use crate::cli::options::filters::{explain_unmatched, note_untouched};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{CacheArguments, InputArguments, Opening};
use crate::cli::options::output::OutputArguments;
use crate::cli::output::answer::check_output;
use crate::cli::output::messages::note;
use crate::cli::output::{answer, messages};
use wavesieve_engine::{QueryOptions, Registry, run_query, source_rows};
use wavesieve_tables::derive::health::{ANOMALIES, DAMAGED_INPUT};

/// List trace anomalies; exit with 4 on errors
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Exits with 4 if an anomaly is an error, and names it on standard error; with 5 if an input is damaged and nothing else is an error.
Rows of `not_recorded` list missing records and how to record them.

Examples:
  wavesieve check traces/
  wavesieve check traces/rank0_results.db -f json"
)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    input: InputArguments,
    #[command(flatten)]
    cache: CacheArguments,
    #[command(flatten)]
    output: OutputArguments,
}

pub(crate) fn run(arguments: &CheckArguments, registry: &Registry, global: &GlobalArguments) -> Result<u8, Failure> {
    check_output(&arguments.input, &arguments.output)?;
    let trace = arguments.input.open(global, &Opening { cache: Some(&arguments.cache), ..Opening::default() })?;
    messages::describe(&trace, global);
    note_untouched(&trace, [ANOMALIES].into_iter(), global);
    // No check reads stored rows of a dataset or the arguments of API calls, so damage there would go unnoticed.
    trace.finds_damaged_content();
    trace.inspect_beside_tables();
    source_rows(&trace)?;
    let result = run_query(&trace, registry.get("trace_health")?, &QueryOptions::default())?;
    let errors = errors(&result.frame)?;
    let severities = result.frame.column("severity").map_err(anyhow::Error::from)?;
    let severities = severities.str().map_err(anyhow::Error::from)?;
    let is_sound = !severities.iter().any(|severity| matches!(severity, Some("error" | "warning")));
    let all = result.frame.height();
    answer::write_whole(result, &arguments.output, global)?;
    if is_sound {
        note!(global, "{}", if all > 0 { "no errors and no warnings" } else { "nothing to report" });
    }
    messages::print_notes(&errors, "failed: ", global);
    let is_damaged = messages::report_damage(&trace, global);
    let is_unmatched = !is_damaged && explain_unmatched(&trace, false, global)?;
    Ok(match (errors.is_empty(), is_damaged, is_unmatched) {
        (false, _, _) => EXCEEDED,
        (true, true, _) => PARTIAL,
        (true, false, true) => NO_DATA,
        (true, false, false) => DONE,
    })
}

/// A line for every anomaly that is an error. Damaged inputs have separate lines and a separate exit code.
fn errors(anomalies: &DataFrame) -> anyhow::Result<Vec<String>> {
    let text = |name: &str| Ok::<_, anyhow::Error>(anomalies.column(name)?.str()?);
    let (checks, severities) = (text("check_id")?, text("severity")?);
    let (tables, details) = (text("table_name")?, text("detail")?);
    let counts = anomalies.column("count")?.i64()?;
    let line = |row: usize| {
        let check = checks.get(row).filter(|check| *check != DAMAGED_INPUT)?;
        severities.get(row).filter(|severity| *severity == "error")?;
        let (table, detail) = (tables.get(row).unwrap_or_default(), details.get(row).unwrap_or_default());
        Some(format!("failed: {check} ({} in {table}): {detail}", counts.get(row).unwrap_or_default()))
    };
    Ok((0..anomalies.height()).filter_map(line).collect())
}

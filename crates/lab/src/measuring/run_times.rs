//! Times of the kernels of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;

use super::run_once::Collected;
use wavesieve_engine::findings::Rows;
use wavesieve_engine::{Answer, QueryOptions, Registry, run_query};
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_report::compare::{Digest, TakeOptions, take_digest};
use wavesieve_tables::trace::Trace;

/// Categories of work that the runtime does by itself, not the program.
const OF_THE_RUNTIME: [&str; 2] = ["runtime", "graph_task"];
/// Prefix of kernel names of the runtime, including copies and fills.
const RUNTIME_PREFIX: &str = "__amd_rocclr_";

/// Times of a kernel in a run, over all processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelTimes {
    /// Its full demangled name.
    pub name: String,
    pub total_ns: i64,
    pub dispatches: u64,
    pub longest_ns: i64,
    /// Whether it belongs to the runtime, which users do not tune.
    pub is_of_runtime: bool,
    /// Whether it communicates: its time is mostly waiting for other GPUs.
    pub is_communication: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunTimes {
    pub seconds: f64,
    pub traces: Vec<PathBuf>,
    /// From the first to the last activity of a GPU; the longest of several GPUs.
    pub span_ns: i64,
    /// The kernels, the most total time first.
    pub kernels: Vec<KernelTimes>,
}

impl RunTimes {
    pub fn kernel(&self, name: &str) -> Option<&KernelTimes> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

pub(crate) fn read_run_times(collected: &Collected) -> Result<RunTimes> {
    let trace = collected.open()?;
    let answered = answer(&trace, "kernel_summary", &["kernel_name", "category", "calls", "total_ns", "max_ns"])?;
    let rows = Rows::over(Some(&answered));
    let kernel = |row: usize| {
        let name = rows.text(row, "kernel_name")?;
        let category = rows.text(row, "category").unwrap_or_default();
        Some(KernelTimes {
            name: name.to_owned(),
            total_ns: rows.integer(row, "total_ns")?,
            dispatches: u64::try_from(rows.integer(row, "calls")?).ok()?,
            longest_ns: rows.integer(row, "max_ns")?,
            is_communication: category == COMMUNICATION,
            is_of_runtime: name.starts_with(RUNTIME_PREFIX) || OF_THE_RUNTIME.contains(&category),
        })
    };
    let kernels = rows.places().filter_map(kernel).collect();
    let answered = answer(&trace, "device_summary", &["device", "span_ns"])?;
    let rows = Rows::over(Some(&answered));
    let span_ns = rows.places().filter_map(|row| rows.integer(row, "span_ns")).max().unwrap_or(0);
    Ok(RunTimes { seconds: collected.seconds, traces: collected.traces.clone(), span_ns, kernels })
}

/// The answer of a built-in query, with these columns.
pub(crate) fn answer(trace: &Trace, query: &str, columns: &[&str]) -> Result<Answer> {
    let columns = Some(columns.iter().map(|name| (*name).to_owned()).collect());
    let options = QueryOptions { columns, parameters: BTreeMap::new(), ..QueryOptions::default() };
    Ok(run_query(trace, Registry::embedded().get(query)?, &options)?)
}

pub(crate) fn open_traces(traces: &[PathBuf]) -> Result<Trace> {
    Ok(wavesieve_input::open(traces.iter().map(|path| path.to_string_lossy().into_owned()))?)
}

/// The digest of a run, in the form of `compare`.
pub(crate) fn digest_of(traces: &[PathBuf]) -> Result<Digest> {
    let inputs: Vec<String> = traces.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    take_digest(&open_traces(traces)?, &inputs, &TakeOptions::default())
}

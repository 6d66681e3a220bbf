//! One run of a program under rocprofv3.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::error::MeasureError;
use super::run_times::{RunTimes, open_traces, read_run_times};
use crate::interactive::programs::{Application, End, Limits, Profiling, run};
use wavesieve_tables::trace::Trace;

/// The command for times alone: it disturbs the program least.
const TIMES: [&str; 2] = ["rocprofv3", "--kernel-trace"];

#[derive(Debug, Clone, PartialEq)]
pub struct Collected {
    /// The command, as a line for a shell.
    pub line: String,
    pub seconds: f64,
    /// Files that can be read, sorted.
    pub traces: Vec<PathBuf>,
}

impl Collected {
    pub(crate) fn open(&self) -> anyhow::Result<Trace> {
        open_traces(&self.traces).with_context(|| format!("cannot read what `{}` wrote", self.line))
    }
}

/// Runs the application once, and reads the times of its kernels.
///
/// Files in `directory` are removed first; the application runs in `working_directory`.
pub(crate) fn run_once(
    application: &Application,
    directory: &Path,
    working_directory: &Path,
    limits: &Limits,
    is_interrupted: &dyn Fn() -> bool,
    on_line: &mut dyn FnMut(&str),
) -> Result<RunTimes, MeasureError> {
    let profiling = Profiling::of_words(&TIMES.map(ToOwned::to_owned), application, directory)?;
    let collected = collect(&profiling, directory, working_directory, limits, is_interrupted, on_line)?;
    let times = read_run_times(&collected)?;
    if times.kernels.is_empty() {
        return Err(MeasureError::NoKernels { line: collected.line });
    }
    Ok(times)
}

/// Runs a rocprofv3 command that writes into a directory, which is emptied first.
pub fn collect(
    profiling: &Profiling,
    directory: &Path,
    working_directory: &Path,
    limits: &Limits,
    is_interrupted: &dyn Fn() -> bool,
    on_line: &mut dyn FnMut(&str),
) -> Result<Collected, MeasureError> {
    let line = profiling.line();
    // Leftovers of a stopped run are not a result.
    if directory.exists() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot empty {}", directory.display()))?;
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    let ended = run(&profiling.words, &profiling.environment, working_directory, limits, is_interrupted, on_line);
    match ended.end {
        End::Code(0) => {}
        End::Interrupted => return Err(MeasureError::Interrupted),
        end => return Err(MeasureError::Ended { line, end, limit_s: limits.seconds, tail: ended.tail }),
    }
    let traces = profiling.traces(directory);
    if traces.is_empty() {
        return Err(MeasureError::NoTrace { line, directory: directory.to_owned() });
    }
    Ok(Collected { line, seconds: ended.seconds, traces })
}

//! Runs all commands that a profile needs.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use polars::prelude::{col, lit};
use serde::Serialize;

use super::request::{CounterPass, Plan, ProfileRequest, plan, thread_trace};
use crate::interactive::programs::Profiling;
use crate::measuring::{
    Collected, MeasureError, Measured, RunTimes, Setting, Stability, collect, measure, open_traces, read_run_times,
};
use wavesieve_tables::trace::Trace;

const SHOWN_NAMES: usize = 5;

#[derive(Debug, Clone, Serialize)]
pub struct PassOutcome {
    pub counters: Vec<String>,
    pub command: String,
    pub seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    #[serde(skip)]
    pub traces: Vec<PathBuf>,
}

pub struct Recorded {
    pub timeline: Collected,
    pub measured: Measured,
    /// The kernel of the program with the most time, among the selected kernels.
    pub dominant: String,
    /// Its times over the runs, in nanoseconds.
    pub stability: Stability,
    pub passes: Vec<PassOutcome>,
    /// The reason why no passes ran though counters were requested.
    pub no_passes: Option<String>,
    /// `None` if none was requested.
    pub thread_trace: Option<Result<Collected, String>>,
}

impl Recorded {
    /// Returns whether some requested data could not be recorded.
    pub fn is_partial(&self) -> bool {
        self.no_passes.is_some()
            || self.passes.iter().any(|pass| pass.failed.is_some())
            || self.thread_trace.as_ref().is_some_and(Result::is_err)
    }
}

/// Receives progress while programs run.
pub struct Listener<'a> {
    pub is_interrupted: &'a dyn Fn() -> bool,
    /// Receives a line of a program's output.
    pub on_line: &'a mut dyn FnMut(&str),
    /// Receives the next step, or a result.
    pub on_step: &'a mut dyn FnMut(&str),
}

/// Records all requested data.
///
/// # Errors
/// When the program cannot be measured, or the user interrupts it. Passes of counters and thread traces that fail are not errors.
pub fn record(request: &ProfileRequest, listener: &mut Listener<'_>) -> Result<Recorded, MeasureError> {
    let first = plan(request, None);
    let timeline = run(request, &first.timeline, &first.timeline_directory, "timeline", listener)?;
    let architecture = architecture(&timeline)?;
    check_pattern(request, &timeline)?;
    let measured = times(request, listener)?;
    let dominant = dominant(request, &measured).ok_or_else(|| no_kernel(request, &timeline))?;
    (listener.on_step)(&format!("the dominant kernel is {dominant}"));
    let stability = Stability::of(&measured.totals_ns(&dominant)).ok_or_else(|| no_kernel(request, &timeline))?;
    let Plan { passes, definitions, no_passes, .. } = plan(request, architecture.as_deref());
    if let Some((path, text)) = definitions {
        let failed = || format!("cannot write {}", path.display());
        path.parent().map(fs::create_dir_all).transpose().with_context(failed)?;
        fs::write(&path, text).with_context(failed)?;
    }
    let count = passes.len();
    let mut outcomes = Vec::new();
    for (pass, number) in passes.iter().zip(1..) {
        outcomes.push(counted(request, pass, &format!("counter pass {number} of {count}"), listener)?);
    }
    let dispatch = warm_dispatch(&measured, &dominant);
    let thread_trace = request.thread_trace.then(|| traced(request, &dominant, dispatch, listener)).transpose()?;
    Ok(Recorded { timeline, measured, dominant, stability, passes: outcomes, no_passes, thread_trace })
}

fn run(
    request: &ProfileRequest,
    profiling: &Profiling,
    directory: &std::path::Path,
    title: &str,
    listener: &mut Listener<'_>,
) -> Result<Collected, MeasureError> {
    (listener.on_step)(&format!("{title}: {}", profiling.line()));
    let Listener { is_interrupted, on_line, .. } = listener;
    collect(profiling, directory, &request.working_directory, &request.limits, is_interrupted, on_line)
}

/// Separates failures from an interruption, which ends the whole profile.
fn told<T>(result: Result<T, MeasureError>) -> Result<Result<T, String>, MeasureError> {
    match result {
        Err(MeasureError::Interrupted) => Err(MeasureError::Interrupted),
        other => Ok(other.map_err(|error| error.to_string())),
    }
}

fn counted(
    request: &ProfileRequest,
    pass: &CounterPass,
    title: &str,
    listener: &mut Listener<'_>,
) -> Result<PassOutcome, MeasureError> {
    let result = told(run(request, &pass.profiling, &pass.directory, title, listener))?;
    let result = result.and_then(|collected| filled(collected, &has_counters, "values of counters"));
    if let Err(reason) = &result {
        (listener.on_step)(&format!("{title} failed: {reason}"));
    }
    let (counters, command) = (pass.counters.clone(), pass.profiling.line());
    Ok(match result {
        Ok(Collected { seconds, traces, .. }) => {
            PassOutcome { counters, command, seconds: Some(seconds), failed: None, traces }
        }
        Err(reason) => PassOutcome { counters, command, seconds: None, failed: Some(reason), traces: Vec::new() },
    })
}

fn traced(
    request: &ProfileRequest,
    kernel: &str,
    dispatch: u64,
    listener: &mut Listener<'_>,
) -> Result<Result<Collected, String>, MeasureError> {
    let (profiling, directory) = thread_trace(request, kernel, dispatch)?;
    let result = told(run(request, &profiling, &directory, "thread trace", listener))?;
    let result = result.and_then(|collected| filled(collected, &has_executed, "executed instructions"));
    if let Err(reason) = &result {
        (listener.on_step)(&format!("thread trace failed: {reason}"));
    }
    Ok(result)
}

/// The collected traces, if they hold the requested data; otherwise the reason why they are unusable.
fn filled(
    collected: Collected,
    has_any: &dyn Fn(&Trace) -> anyhow::Result<bool>,
    what: &str,
) -> Result<Collected, String> {
    let unreadable = || format!("cannot read what `{}` wrote", collected.line);
    match open_traces(&collected.traces).and_then(|trace| has_any(&trace)).with_context(unreadable) {
        Ok(true) => Ok(collected),
        Ok(false) => Err(format!("`{}` ended well and recorded no {what}", collected.line)),
        Err(error) => Err(format!("{error:#}")),
    }
}

fn has_counters(trace: &Trace) -> anyhow::Result<bool> {
    let table = wavesieve_model::schema::table("counters").context("internal: no table of counters")?;
    for member in trace.members() {
        if trace.has_rows(member, table)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether any instruction of a thread trace ran: the trace of a dispatch that never occurred lists them with
/// zeros.
fn has_executed(trace: &Trace) -> anyhow::Result<bool> {
    let instructions = trace.unfiltered("att_instructions", &["hitcount"])?;
    Ok(instructions.filter(col("hitcount").gt(lit(0))).collect()?.height() > 0)
}

/// The second dispatch of a kernel, because one-time work slows down the first; the first if a process has only one.
fn warm_dispatch(measured: &Measured, kernel: &str) -> u64 {
    let has_two = |run: &RunTimes| {
        run.kernel(kernel).is_some_and(|kernel| kernel.dispatches >= 2 * run.traces.len().max(1) as u64)
    };
    if measured.runs.iter().all(has_two) { 2 } else { 1 }
}

fn times(request: &ProfileRequest, listener: &mut Listener<'_>) -> Result<Measured, MeasureError> {
    let setting = Setting {
        application: &request.application,
        directory: &request.traces,
        working_directory: &request.working_directory,
        limits: &request.limits,
        is_interrupted: listener.is_interrupted,
    };
    let Listener { on_line, on_step, .. } = listener;
    let mut on_run = |runs: &[RunTimes]| {
        if let Some(run) = runs.last() {
            let gpu = run.kernels.iter().map(|kernel| kernel.total_ns).fold(0, i64::saturating_add);
            let gpu = wavesieve_engine::findings::duration(gpu as f64);
            on_step(&format!("run {}: {gpu} of kernels in {:.1} s", runs.len(), run.seconds));
        }
    };
    measure(&setting, &request.until, on_line, &mut on_run)
}

/// The kernel with the most time among the selected kernels.
fn dominant(request: &ProfileRequest, measured: &Measured) -> Option<String> {
    let Some(pattern) = &request.kernel else { return measured.dominant().map(ToOwned::to_owned) };
    let pattern = regex::Regex::new(pattern).ok()?;
    measured.dominant_of(|name| pattern.is_match(name)).map(ToOwned::to_owned)
}

fn no_kernel(request: &ProfileRequest, timeline: &Collected) -> MeasureError {
    let line = timeline.line.clone();
    match &request.kernel {
        Some(pattern) => {
            let found = kernel_names(timeline).unwrap_or_default();
            let found = found.iter().take(SHOWN_NAMES).cloned().collect::<Vec<_>>().join(", ");
            MeasureError::NoMatch { line, pattern: pattern.clone(), found }
        }
        None => MeasureError::NoKernels { line },
    }
}

/// Fails early if no kernel of the first run has a requested name.
fn check_pattern(request: &ProfileRequest, timeline: &Collected) -> Result<(), MeasureError> {
    let Some(pattern) = request.kernel.as_deref().and_then(|pattern| regex::Regex::new(pattern).ok()) else {
        return Ok(());
    };
    let names = kernel_names(timeline)?;
    // A run without any kernel has another reason, which the later runs show.
    let is_none = !names.is_empty() && !names.iter().any(|name| pattern.is_match(name));
    if is_none { Err(no_kernel(request, timeline)) } else { Ok(()) }
}

/// The names of the kernels of a run, the longest first.
fn kernel_names(timeline: &Collected) -> Result<Vec<String>, MeasureError> {
    let run = read_run_times(timeline)?;
    Ok(run.kernels.into_iter().filter(|kernel| !kernel.is_of_runtime).map(|kernel| kernel.name).collect())
}

fn architecture(timeline: &Collected) -> Result<Option<String>, MeasureError> {
    let trace = timeline.open()?;
    let agents = trace.members().iter().flat_map(|member| &member.process.facts.agents);
    let name = agents.filter(|agent| agent.is_gpu()).map(|agent| agent.name.split(':').next().unwrap_or_default());
    Ok(name.map(str::to_lowercase).next())
}

//! Runs until the time of the dominant kernel is certain, or a limit is reached.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::certainty::Stability;
use super::error::MeasureError;
use super::run_once::run_once;
use super::run_times::{KernelTimes, RunTimes};
use crate::interactive::programs::{Application, Limits};

pub struct Setting<'a> {
    pub application: &'a Application,
    pub directory: &'a Path,
    pub working_directory: &'a Path,
    pub limits: &'a Limits,
    pub is_interrupted: &'a dyn Fn() -> bool,
}

/// Limits of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Until {
    /// Exactly this many runs.
    pub runs: Option<usize>,
    /// Width of the median's interval, as a share of the median, that is narrow enough.
    pub precision: f64,
    pub most_runs: usize,
    /// No run starts after this time.
    pub budget: Option<Duration>,
}

/// Reasons to stop measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The requested number of runs was made.
    Runs,
    /// The interval is narrow enough.
    Certain,
    /// The maximum number of runs was made.
    #[serde(rename = "max_runs")]
    MostRuns,
    /// The time ran out.
    Budget,
}

#[derive(Debug, Clone)]
pub struct Measured {
    pub runs: Vec<RunTimes>,
    pub stopped: Stopped,
}

impl Measured {
    /// The kernel of the program with the most time over all runs; the first by name of equal ones. Kernels that
    /// communicate count only if there are no others.
    pub fn dominant(&self) -> Option<&str> {
        dominant_of_program(&self.runs)
    }

    /// [`Measured::dominant`] among the accepted names.
    pub(crate) fn dominant_of(&self, is_asked: impl Fn(&str) -> bool) -> Option<&str> {
        dominant(&self.runs, |kernel| is_asked(&kernel.name))
    }

    /// Total times of a kernel, for each run in which it ran.
    pub(crate) fn totals_ns(&self, name: &str) -> Vec<f64> {
        totals_ns(&self.runs, name)
    }
}

fn dominant_of_program(runs: &[RunTimes]) -> Option<&str> {
    dominant(runs, |kernel| !kernel.is_communication).or_else(|| dominant(runs, |_| true))
}

fn dominant(runs: &[RunTimes], is_asked: impl Fn(&KernelTimes) -> bool) -> Option<&str> {
    let mut totals: BTreeMap<&str, i128> = BTreeMap::new();
    for kernel in runs.iter().flat_map(|run| &run.kernels).filter(|kernel| !kernel.is_of_runtime && is_asked(kernel)) {
        *totals.entry(&kernel.name).or_default() += i128::from(kernel.total_ns);
    }
    let longest = totals.into_iter().max_by(|one, other| one.1.cmp(&other.1).then(other.0.cmp(one.0)));
    longest.map(|(name, _)| name)
}

fn totals_ns(runs: &[RunTimes], name: &str) -> Vec<f64> {
    runs.iter().filter_map(|run| run.kernel(name)).map(|kernel| kernel.total_ns as f64).collect()
}

/// Runs the application until the time of its dominant kernel is certain. Each run has its own directory, `run-1` and
/// so on.
///
/// `on_run` gets each finished run, with all runs before it.
pub fn measure(
    setting: &Setting<'_>,
    until: &Until,
    on_line: &mut dyn FnMut(&str),
    on_run: &mut dyn FnMut(&[RunTimes]),
) -> Result<Measured, MeasureError> {
    let begin = Instant::now();
    let mut runs: Vec<RunTimes> = Vec::new();
    loop {
        let Setting { application, working_directory, limits, is_interrupted, .. } = setting;
        let place = setting.directory.join(format!("run-{}", runs.len() + 1));
        runs.push(run_once(application, &place, working_directory, limits, is_interrupted, on_line)?);
        on_run(&runs);
        let is_over = until.budget.is_some_and(|budget| begin.elapsed() >= budget);
        if let Some(stopped) = stopped(&runs, until, is_over) {
            return Ok(Measured { runs, stopped });
        }
    }
}

fn stopped(runs: &[RunTimes], until: &Until, is_over: bool) -> Option<Stopped> {
    match until.runs {
        Some(wanted) if runs.len() >= wanted => return Some(Stopped::Runs),
        Some(_) => return is_over.then_some(Stopped::Budget),
        None => {}
    }
    let width = dominant_of_program(runs).and_then(|name| Stability::of(&totals_ns(runs, name))?.width());
    if width.is_some_and(|width| width < until.precision) {
        Some(Stopped::Certain)
    } else if runs.len() >= until.most_runs {
        Some(Stopped::MostRuns)
    } else {
        is_over.then_some(Stopped::Budget)
    }
}

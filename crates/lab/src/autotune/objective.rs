//! The measured number of a configuration, and how a configuration runs.

use std::path::Path;

use regex::Regex;

use super::history::Outcome;
use super::space::Space;
use super::template::Template;
use super::tuning::Measurement;
use crate::interactive::programs::{Application, End, Limits, run, why};
use crate::measuring::{MeasureError, RunTimes, run_once};

/// Maximum characters of a reason.
const REASON: usize = 400;
/// A run may take this many times the longest successful run, plus this many seconds.
const LONGER: f64 = 20.0;
const MORE_SECONDS: f64 = 10.0;

/// The number to minimize or maximize.
#[derive(Debug, Clone)]
pub enum Objective {
    /// The time from the start of the command to its end.
    Wall,
    /// The total time of the kernels with matching names, or of the kernel that takes most time, under rocprofv3.
    Kernel(Option<Regex>),
    /// A number in the output: the last match of the pattern, times a factor.
    Printed { pattern: Regex, factor: f64 },
}

impl Objective {
    /// The objective in words, by which results of the same kind are recognized.
    pub fn words(&self) -> String {
        match self {
            Self::Wall => "wall".to_owned(),
            Self::Kernel(None) => "kernel".to_owned(),
            Self::Kernel(Some(name)) => format!("kernel {name}"),
            Self::Printed { pattern, factor } => format!("printed {pattern} x {factor}"),
        }
    }
}

/// A command, and how its configurations run.
pub struct Program<'a> {
    pub space: &'a Space,
    pub template: &'a Template,
    pub objective: &'a Objective,
    /// The directory in which it runs.
    pub working_directory: &'a Path,
    /// The directory for traces.
    pub trace_directory: &'a Path,
    /// Maximum seconds of a run.
    pub time_limit: u64,
    /// Seconds of the longest successful run.
    pub longest: Option<f64>,
}

impl Program<'_> {
    /// Runs a configuration once.
    pub fn measure(&mut self, configuration: usize, is_interrupted: &dyn Fn() -> bool) -> Measurement {
        let words = self.template.words(self.space, configuration);
        let application = Application::of_words(words);
        let limit = self
            .longest
            .map_or(self.time_limit, |longest| self.time_limit.min((longest * LONGER + MORE_SECONDS).ceil() as u64));
        let limits = Limits { seconds: Some(limit), output_bytes: u64::MAX };
        let (measured, seconds) = match self.objective {
            Objective::Kernel(name) => self.kernel(&application, name.as_ref(), &limits, is_interrupted),
            Objective::Wall => self.run(&application, None, &limits, is_interrupted),
            Objective::Printed { pattern, factor } => {
                self.run(&application, Some((pattern, *factor)), &limits, is_interrupted)
            }
        };
        if matches!(measured, Measurement::Outcome(Outcome::Value(_))) {
            self.longest = Some(self.longest.map_or(seconds, |longest| longest.max(seconds)));
        }
        measured
    }

    fn run(
        &self,
        application: &Application,
        printed: Option<(&Regex, f64)>,
        limits: &Limits,
        is_interrupted: &dyn Fn() -> bool,
    ) -> (Measurement, f64) {
        let mut found: Option<String> = None;
        let mut on_line = |line: &str| {
            let Some((pattern, _)) = printed else { return };
            if let Some(captures) = pattern.captures_iter(line).last() {
                let number = captures.get(1).or_else(|| captures.get(0));
                found = number.map(|number| number.as_str().trim().to_owned());
            }
        };
        let (words, environment) = (&application.words, &application.environment);
        let ended = run(words, environment, self.working_directory, limits, is_interrupted, &mut on_line);
        let measured = match &ended.end {
            End::Interrupted => Measurement::Interrupted,
            // No configuration can run it.
            end @ End::NotFound(_) if self.template.has_fixed_program() => Measurement::Impossible(why(end, None)),
            End::Code(0) => Measurement::Outcome(match printed {
                None => positive(ended.seconds * 1e3),
                Some((pattern, factor)) => number(found.as_deref(), pattern, factor),
            }),
            end => Measurement::Outcome(Outcome::Failed(reason(&why(end, limits.seconds), &ended.tail))),
        };
        (measured, ended.seconds)
    }

    fn kernel(
        &self,
        application: &Application,
        name: Option<&Regex>,
        limits: &Limits,
        is_interrupted: &dyn Fn() -> bool,
    ) -> (Measurement, f64) {
        let (place, directory) = (self.working_directory, self.trace_directory);
        match run_once(application, directory, place, limits, is_interrupted, &mut |_| {}) {
            Ok(times) => (Measurement::Outcome(total(&times, name)), times.seconds),
            Err(MeasureError::Interrupted) => (Measurement::Interrupted, 0.0),
            Err(MeasureError::Ended { end: End::NotFound(_), .. }) => {
                let reason = "rocprofv3 is not on the PATH; install it, or use --measure wall or printed";
                (Measurement::Impossible(reason.to_owned()), 0.0)
            }
            Err(error @ MeasureError::Command(_)) => (Measurement::Impossible(error.to_string()), 0.0),
            Err(MeasureError::Ended { end, limit_s, tail, .. }) => {
                (Measurement::Outcome(Outcome::Failed(reason(&why(&end, limit_s), &tail))), 0.0)
            }
            Err(error) => (Measurement::Outcome(Outcome::Failed(shortened(&error.to_string(), REASON))), 0.0),
        }
    }
}

/// The total time of kernels in a run, in ms.
fn total(times: &RunTimes, name: Option<&Regex>) -> Outcome {
    let nanoseconds: i64 = match name {
        Some(name) => {
            times.kernels.iter().filter(|kernel| name.is_match(&kernel.name)).map(|kernel| kernel.total_ns).sum()
        }
        None => {
            let of_program = || times.kernels.iter().filter(|kernel| !kernel.is_of_runtime);
            let computing = of_program().find(|kernel| !kernel.is_communication);
            computing.or_else(|| of_program().next()).map_or(0, |kernel| kernel.total_ns)
        }
    };
    match name {
        Some(name) if nanoseconds <= 0 => Outcome::Failed(format!("no kernel that ran matches `{name}`")),
        None if nanoseconds <= 0 => Outcome::Failed("no kernel of the program ran".to_owned()),
        _ => positive(nanoseconds as f64 / 1e6),
    }
}

fn positive(milliseconds: f64) -> Outcome {
    if milliseconds > 0.0 { Outcome::Value(milliseconds) } else { Outcome::Failed("it took no time".to_owned()) }
}

fn number(found: Option<&str>, pattern: &Regex, factor: f64) -> Outcome {
    let Some(text) = found else { return Outcome::Failed(format!("nothing in the output matches `{pattern}`")) };
    match text.parse::<f64>().map(|number| number * factor) {
        Ok(number) if number.is_finite() => Outcome::Value(number),
        _ => Outcome::Failed(format!("`{}` in the output is not a finite number", shortened(text, REASON))),
    }
}

/// The reason for a failure, with the last line of output.
fn reason(why: &str, tail: &str) -> String {
    let last = tail.lines().rev().find(|line| !line.trim().is_empty());
    shortened(&last.map_or_else(|| why.to_owned(), |last| format!("{why}: {}", last.trim())), REASON)
}

/// The start of a text, at most this many characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(most).collect();
    if characters.next().is_some() { start + "…" } else { start }
}

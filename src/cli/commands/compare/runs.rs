//! The runs for `compare`: reads digests, and summarizes several traces in parallel.

use std::path::{Path, PathBuf};

use regex::Regex;

use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::input::{CacheArguments, InputArguments, Opening};
use crate::cli::output::messages;
use wavesieve_input::InputError;
use wavesieve_report::batch::{Grouping, Run, runs};
use wavesieve_report::compare::{Digest, PathChoice, TakeOptions, is_digest, read_digest, take_digest};
use wavesieve_report::timeline::{SideTimeline, TimelineReader};
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::jobs::Jobs;

/// How runs are found and read.
pub(super) struct RunReader<'a> {
    pub input: &'a InputArguments,
    pub cache: &'a CacheArguments,
    /// Decides which files make one run; by default each input is one.
    pub runs_by: Option<&'a Regex>,
    /// Name of the ranges that replace iterations.
    pub range: Option<&'a str>,
    pub path: PathChoice,
    /// Whether the first runs of both sides are drawn.
    pub with_timeline: bool,
    pub global: &'a GlobalArguments,
}

/// A run before it is read.
pub(super) struct NamedRun {
    /// Name of its side in messages.
    side: String,
    source: RunSource,
    /// Whether it is drawn, as the base or as the new side.
    drawn_as_base: Option<bool>,
}

impl NamedRun {
    pub(super) fn is_saved(&self) -> bool {
        matches!(self.source, RunSource::Digest(_))
    }
}

enum RunSource {
    Digest(PathBuf),
    /// Named inputs; a run among them is read together with all of them.
    Trace {
        named: Vec<String>,
        inputs: Vec<String>,
        run: Option<Run>,
    },
}

/// Runs after reading.
pub(super) struct ReadRuns {
    pub digests: Vec<Digest>,
    /// The time lines of both sides, if they are drawn.
    pub base: Option<SideTimeline>,
    pub new: Option<SideTimeline>,
    /// Whether parts could not be read.
    pub is_damaged: bool,
}

/// A run after reading, with its trace if some parts could not be read.
struct ReadRun {
    digest: Digest,
    timeline: Option<(bool, SideTimeline)>,
    damaged: Option<Trace>,
}

impl RunReader<'_> {
    /// Finds the runs of a side: digests first, in the order of the inputs.
    pub(super) fn runs(&self, side: &str, inputs: &[String]) -> Result<Vec<NamedRun>, Failure> {
        let of_side = |source| NamedRun { side: side.to_owned(), source, drawn_as_base: None };
        let (mut found, mut traces) = (Vec::new(), Vec::new());
        for input in inputs {
            match saved_digests(input) {
                saved if saved.is_empty() => traces.push(input.clone()),
                saved => found.extend(saved.into_iter().map(|path| of_side(RunSource::Digest(path)))),
            }
        }
        match self.runs_by {
            Some(pattern) if !traces.is_empty() => {
                let grouped = runs(&traces, None, &Grouping::Pattern(pattern.clone()))?;
                found.extend(grouped.runs.into_iter().map(|run| {
                    let named = vec![run.name.clone()];
                    of_side(RunSource::Trace { named, inputs: traces.clone(), run: Some(run) })
                }));
            }
            _ => found.extend(traces.into_iter().map(|input| {
                let named = vec![input];
                of_side(RunSource::Trace { inputs: named.clone(), named, run: None })
            })),
        }
        if let Some(first) = found.first_mut().filter(|_| self.with_timeline) {
            first.drawn_as_base = Some(side == "base");
        }
        Ok(found)
    }

    /// Reads runs, several at a time; the available jobs and memory are divided among them. Parts that could not be read are
    /// reported.
    pub(super) fn read(&self, runs: Vec<NamedRun>) -> Result<ReadRuns, Failure> {
        let all = self.global.jobs();
        let traces = runs.iter().filter(|run| matches!(run.source, RunSource::Trace { .. })).count();
        let at_once = all.count.clamp(1, traces.max(1));
        let each = Jobs { count: (all.count / at_once).max(1), memory_bytes: all.memory_bytes / at_once as u64 };
        let jobs = if traces > 1 { Some(each) } else { None };
        let work = |run: &NamedRun| self.read_one(run, jobs);
        let read = Jobs { count: at_once, memory_bytes: u64::MAX }.run(&runs, |_| 0, work)?;
        let mut all = ReadRuns { digests: Vec::new(), base: None, new: None, is_damaged: false };
        for run in read {
            // Changed bytes could not be detected.
            all.is_damaged |= run.digest.lacks_sum;
            all.digests.push(run.digest);
            match run.timeline {
                Some((true, timeline)) => all.base = Some(timeline),
                Some((false, timeline)) => all.new = Some(timeline),
                None => {}
            }
            all.is_damaged |= run.damaged.is_some_and(|trace| messages::report_damage(&trace, self.global));
        }
        Ok(all)
    }

    fn read_one(&self, run: &NamedRun, jobs: Option<Jobs>) -> Result<ReadRun, Failure> {
        let of_run = |error: anyhow::Error| Failure::Other(error.context(format!("{} side", run.side)));
        match &run.source {
            RunSource::Digest(path) => {
                let digest = read_digest(path).map_err(|error| of_side(&run.side, error.into()))?;
                self.check_saved(path, &digest)?;
                if let Some(warning) = digest.warning() {
                    messages::print_note(warning);
                }
                let timeline = run.drawn_as_base.map(|is_base| (is_base, SideTimeline::of_digest(&digest)));
                Ok(ReadRun { digest, timeline, damaged: None })
            }
            RunSource::Trace { named, inputs, run: grouped } => {
                let opening = Opening { cache: Some(self.cache), run: grouped.as_ref(), jobs, ..Opening::default() };
                let trace = self.input.with_inputs(inputs.clone()).open(self.global, &opening);
                let trace = trace.map_err(|failure| of_side(&run.side, failure))?;
                let reader = run.drawn_as_base.map(|_| TimelineReader::new(&trace));
                let options = TakeOptions { range: self.range, path: self.path, timeline: reader.as_ref() };
                let digest = take_digest(&trace, named, &options).map_err(of_run)?;
                let drawn = run.drawn_as_base.zip(reader);
                let side = |(is_base, reader)| Ok((is_base, SideTimeline::new(&trace, reader)?));
                let timeline = drawn.map(side).transpose().map_err(of_run)?;
                let is_damaged = !trace.damage().is_empty();
                Ok(ReadRun { digest, timeline, damaged: is_damaged.then_some(trace) })
            }
        }
    }

    /// Rejects a digest that was saved with options other than those of this comparison.
    fn check_saved(&self, path: &Path, digest: &Digest) -> Result<(), Failure> {
        let filters = self.input.filters()?.command_line();
        let refuse = |reason: String| Err(Failure::Usage(format!("{} {reason}", path.display())));
        if !filters.is_empty() && digest.facts.filters != filters {
            let reason = "is a digest, which filters cannot cut; save it with the same filters, or leave them out";
            return refuse(reason.to_owned());
        }
        match (self.range, digest.facts.range.as_deref()) {
            (Some(range), saved) if saved != Some(range) => {
                refuse(format!("was saved without the range {range}; save it with --basis range:{range}"))
            }
            (None, Some(range)) => refuse(format!("was saved per range {range}; compare with --basis range:{range}")),
            _ => Ok(()),
        }
    }
}

/// The digests that an input names, in the order of their names: itself, the files of a directory with nothing else, or
/// the matches of a pattern. Empty for other inputs.
fn saved_digests(input: &str) -> Vec<PathBuf> {
    let path = Path::new(input);
    if is_digest(path) {
        return vec![path.to_owned()];
    }
    let found = if path.is_dir() {
        std::fs::read_dir(path).map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
    } else if path.exists() {
        return Vec::new();
    } else {
        glob::glob(input).map(|paths| paths.filter_map(Result::ok).collect()).map_err(std::io::Error::other)
    };
    let mut found: Vec<PathBuf> = found.unwrap_or_default();
    // A directory with both digests and traces is read as traces.
    if !found.iter().all(|path| path.extension().is_some_and(|extension| extension == "wsd") && is_digest(path)) {
        return Vec::new();
    }
    found.sort();
    found
}

/// A failure that names the side that has no trace.
fn of_side(name: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Input(InputError::NoTrace { reasons }) if reasons.is_empty() => {
            Failure::Input(InputError::NoTrace { reasons: vec![(format!("{name} side"), "no trace found".to_owned())] })
        }
        Failure::Input(InputError::NoTrace { reasons }) => {
            let named = reasons.into_iter().map(|(path, reason)| (format!("{name} side: {path}"), reason));
            Failure::Input(InputError::NoTrace { reasons: named.collect() })
        }
        Failure::Input(InputError::Damaged { reasons }) => {
            let named = reasons.into_iter().map(|(path, reason)| (format!("{name} side: {path}"), reason));
            Failure::Input(InputError::Damaged { reasons: named.collect() })
        }
        Failure::Input(InputError::Other(error)) => Failure::Other(error.context(format!("{name} side"))),
        other => other,
    }
}

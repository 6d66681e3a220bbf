//! Checks that a candidate computes the same: by the user's check, by output files, by replayed dispatches.

use std::path::Path;

use serde_json::{Value, json};

use super::commands::{Commands, Ran};
use super::elements::Tolerance;
use super::error::OptimizeError;
use super::gates::{Gate, GateResult, Verdict};
use super::outputs::OutputFile;
use super::replaying::Replays;
use crate::interactive::programs::Application;
use wavesieve_engine::findings::counted;

const NO_OBJECT: &str = "has no code object to replay; name it with --object";
const LAST_LINES: usize = 5;

/// The checks of results. Without any check, a candidate is unverified.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// A command that succeeds if results are right.
    pub check: Option<Application>,
    /// Files that the program writes.
    pub outputs: Vec<OutputFile>,
    pub tolerance: Tolerance,
    pub replays: Replays,
}

/// The output files of the original program.
pub(super) type Expected = Vec<Vec<u8>>;

/// A built copy of the sources, and how its program runs.
pub(super) struct Candidate<'a> {
    pub commands: &'a Commands<'a>,
    pub application: &'a Application,
    pub copy: &'a Path,
    pub object: Option<&'a Path>,
}

impl Checks {
    pub(super) fn is_empty(&self) -> bool {
        self.check.is_none() && self.outputs.is_empty() && self.replays.captures.is_empty()
    }

    /// Checks the original program, twice if files are compared: a file that differs from run to run proves nothing.
    pub(super) fn expected(&self, candidate: &Candidate<'_>) -> Result<Expected, OptimizeError> {
        let Candidate { commands, copy, object, .. } = *candidate;
        let mut expected = Expected::new();
        if !self.outputs.is_empty() {
            expected = self.written(candidate)?.map_err(OptimizeError::Baseline)?;
            let again = self.written(candidate)?.map_err(OptimizeError::Baseline)?;
            if let Some((text, _)) = self.difference(&expected, &again) {
                return Err(OptimizeError::Baseline(format!(
                    "does not repeat its results ({text}); raise --tolerance, fix its seed, or use --check"
                )));
            }
        }
        if let Some(check) = &self.check {
            let ran = commands.run(check, copy)?;
            if let Some(problem) = &ran.problem {
                let text = format!("fails its check: {} {problem}{}", ran.command, last_lines(&ran));
                return Err(OptimizeError::Baseline(text));
            }
        }
        if !self.replays.captures.is_empty() {
            let object = object.ok_or_else(|| OptimizeError::Baseline(NO_OBJECT.to_owned()))?;
            if let Some(ran) = self.replays.failure(commands, object, copy)? {
                let problem = ran.problem.as_deref().unwrap_or_default();
                let text = format!("cannot be replayed: {} {problem}{}", ran.command, last_lines(&ran));
                return Err(OptimizeError::Baseline(text));
            }
        }
        Ok(expected)
    }

    pub(super) fn gate(&self, candidate: &Candidate<'_>, expected: &[Vec<u8>]) -> Result<GateResult, OptimizeError> {
        let Candidate { commands, copy, object, .. } = *candidate;
        let result = |verdict, reason: String, facts| GateResult::new(Gate::Correct, verdict, reason, facts);
        if self.is_empty() {
            let reason =
                "nothing checks the results; add --check CMD, --output-file FILE or --replay CAPTURE".to_owned();
            return Ok(result(Verdict::Unverified, reason, Value::Null));
        }
        let mut passed = Vec::new();
        if !self.outputs.is_empty() {
            match self.written(candidate)? {
                Err(reason) => return Ok(result(Verdict::Fail, format!("the program {reason}"), Value::Null)),
                Ok(found) => match self.difference(expected, &found) {
                    Some((reason, facts)) => return Ok(result(Verdict::Fail, reason, facts)),
                    None => passed.push(format!("{} of the same content", counted(self.outputs.len() as f64, "file"))),
                },
            }
        }
        if let Some(check) = &self.check {
            let ran = commands.run(check, copy)?;
            let facts = json!({ "check": ran });
            match &ran.problem {
                Some(problem) => {
                    let reason = format!("the check {problem}{}", last_lines(&ran));
                    return Ok(result(Verdict::Fail, reason, facts));
                }
                None => passed.push("the check passes".to_owned()),
            }
        }
        if !self.replays.captures.is_empty() {
            let Some(object) = object else { return Ok(result(Verdict::Fail, NO_OBJECT.to_owned(), Value::Null)) };
            if let Some(ran) = self.replays.failure(commands, object, copy)? {
                let problem = ran.problem.as_deref().unwrap_or_default();
                let reason = format!("a replayed dispatch differs: lab replay {problem}{}", last_lines(&ran));
                return Ok(result(Verdict::Fail, reason, json!({ "replay": ran })));
            }
            let dispatches = counted(self.replays.captures.len() as f64, "dispatch");
            passed.push(format!("{dispatches} replayed with the same memory"));
        }
        Ok(result(Verdict::Pass, passed.join(", "), json!({ "tolerance": self.tolerance })))
    }

    /// Removes the output files of the last run.
    pub(super) fn clear(&self, commands: &Commands<'_>, copy: &Path) -> Result<(), OptimizeError> {
        let directory = commands.directory(copy);
        self.outputs.iter().try_for_each(|file| file.remove(&directory, copy))
    }

    /// Returns how the results of a run differ from the expected ones.
    pub(super) fn differs(
        &self,
        commands: &Commands<'_>,
        copy: &Path,
        expected: &[Vec<u8>],
    ) -> Result<Option<String>, OptimizeError> {
        let found = self.contents(&commands.directory(copy))?;
        Ok(match found {
            Err(reason) => Some(format!("the program {reason}")),
            Ok(found) => self.difference(expected, &found).map(|(text, _)| text),
        })
    }

    /// Runs the program and reads its output files, or returns why they are missing.
    fn written(&self, candidate: &Candidate<'_>) -> Result<Result<Expected, String>, OptimizeError> {
        let Candidate { commands, application, copy, .. } = *candidate;
        self.clear(commands, copy)?;
        let ran = commands.run(application, copy)?;
        if let Some(problem) = &ran.problem {
            return Ok(Err(format!("{problem}{}", last_lines(&ran))));
        }
        self.contents(&commands.directory(copy))
    }

    /// The output files of the last run, or the reason why they are missing.
    fn contents(&self, directory: &Path) -> Result<Result<Expected, String>, OptimizeError> {
        let mut contents = Vec::new();
        for file in &self.outputs {
            match file.read(directory)? {
                Some(bytes) if bytes.is_empty() => {
                    return Ok(Err(format!("writes nothing into {}, which proves nothing", file.path.display())));
                }
                Some(bytes) => contents.push(bytes),
                None => return Ok(Err(format!("does not write {}", file.path.display()))),
            }
        }
        Ok(Ok(contents))
    }

    /// The first file that differs, in words and in numbers.
    fn difference(&self, expected: &[Vec<u8>], found: &[Vec<u8>]) -> Option<(String, Value)> {
        for ((file, expected), found) in self.outputs.iter().zip(expected).zip(found) {
            let differences = file.differences(expected, found, self.tolerance);
            if let Some((place, one, other)) = &differences.first {
                let name = file.path.display();
                let text = format!(
                    "{name}: {} of {} elements differ, the first is element {place}: {other} in place of {one}",
                    differences.different, differences.elements
                );
                let facts =
                    json!({ "file": name.to_string(), "differences": differences, "tolerance": self.tolerance });
                return Some((text, facts));
            }
        }
        None
    }
}

pub(super) fn last_lines(ran: &Ran) -> String {
    let lines: Vec<&str> = ran.output.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    let last = lines.get(first..).unwrap_or_default();
    if last.is_empty() { String::new() } else { format!(":\n  {}", last.join("\n  ")) }
}

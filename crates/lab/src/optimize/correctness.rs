//! Whether a candidate computes the same: by the user's check, by files that the program writes, by replayed dispatches.

use std::path::Path;

use serde_json::{Value, json};

use super::commands::{Commands, Ran};
use super::elements::Tolerance;
use super::error::OptimizeError;
use super::gates::{Gate, GateResult, Verdict};
use super::outputs::OutputFile;
use super::replaying::Replays;
use crate::interactive::programs::Application;

const NO_OBJECT: &str = "has no code object to replay; name it with --object";
const LAST_LINES: usize = 5;

/// The checks of results. Without any, a candidate is unverified.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// A command that ends well where results are right.
    pub check: Option<Application>,
    /// Files that the program writes.
    pub outputs: Vec<OutputFile>,
    pub tolerance: Tolerance,
    pub replays: Replays,
}

/// The output files of the program as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected(Vec<Vec<u8>>);

impl Checks {
    pub(super) fn is_empty(&self) -> bool {
        self.check.is_none() && self.outputs.is_empty() && self.replays.captures.is_empty()
    }

    /// Checks the program as it is, twice where files are compared: what differs from run to run proves nothing.
    pub(super) fn expected(
        &self,
        commands: &Commands<'_>,
        application: &Application,
        copy: &Path,
        object: Option<&Path>,
    ) -> Result<Expected, OptimizeError> {
        let mut expected = Expected::default();
        if !self.outputs.is_empty() {
            expected = Expected(self.written(commands, application, copy)?.map_err(OptimizeError::Baseline)?);
            let again = Expected(self.written(commands, application, copy)?.map_err(OptimizeError::Baseline)?);
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

    pub(super) fn gate(
        &self,
        commands: &Commands<'_>,
        application: &Application,
        copy: &Path,
        object: Option<&Path>,
        expected: &Expected,
    ) -> Result<GateResult, OptimizeError> {
        let result = |verdict, reason: String, facts| GateResult::new(Gate::Correct, verdict, reason, facts);
        if self.is_empty() {
            let reason =
                "nothing checks the results; add --check CMD, --output-file FILE or --replay CAPTURE".to_owned();
            return Ok(result(Verdict::Unverified, reason, Value::Null));
        }
        let mut passed = Vec::new();
        if !self.outputs.is_empty() {
            match self.written(commands, application, copy)? {
                Err(reason) => return Ok(result(Verdict::Fail, format!("the program {reason}"), Value::Null)),
                Ok(found) => match self.difference(expected, &Expected(found)) {
                    Some((reason, facts)) => return Ok(result(Verdict::Fail, reason, facts)),
                    None => passed.push(format!("{} of the same content", files(self.outputs.len()))),
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
            passed.push(format!("{} replayed with the same memory", dispatches(self.replays.captures.len())));
        }
        Ok(result(Verdict::Pass, passed.join(", "), json!({ "tolerance": self.tolerance })))
    }

    /// Removes what the last run wrote.
    pub(super) fn clear(&self, commands: &Commands<'_>, copy: &Path) -> Result<(), OptimizeError> {
        let directory = commands.directory(copy);
        self.outputs.iter().try_for_each(|file| file.remove(&directory, copy))
    }

    /// How what a run left differs from what is expected.
    pub(super) fn differs(
        &self,
        commands: &Commands<'_>,
        copy: &Path,
        expected: &Expected,
    ) -> Result<Option<String>, OptimizeError> {
        let found = self.contents(&commands.directory(copy))?;
        Ok(match found {
            Err(reason) => Some(format!("the program {reason}")),
            Ok(found) => self.difference(expected, &Expected(found)).map(|(text, _)| text),
        })
    }

    /// Runs the program and reads what it wrote; why there is nothing.
    fn written(
        &self,
        commands: &Commands<'_>,
        application: &Application,
        copy: &Path,
    ) -> Result<Result<Vec<Vec<u8>>, String>, OptimizeError> {
        self.clear(commands, copy)?;
        let ran = commands.run(application, copy)?;
        if let Some(problem) = &ran.problem {
            return Ok(Err(format!("{problem}{}", last_lines(&ran))));
        }
        self.contents(&commands.directory(copy))
    }

    /// The output files of the last run; otherwise why they are missing.
    fn contents(&self, directory: &Path) -> Result<Result<Vec<Vec<u8>>, String>, OptimizeError> {
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
    fn difference(&self, expected: &Expected, found: &Expected) -> Option<(String, Value)> {
        for ((file, expected), found) in self.outputs.iter().zip(&expected.0).zip(&found.0) {
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

fn dispatches(count: usize) -> String {
    if count == 1 { "1 dispatch".to_owned() } else { format!("{count} dispatches") }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

pub(super) fn last_lines(ran: &Ran) -> String {
    let lines: Vec<&str> = ran.output.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    let last = lines.get(first..).unwrap_or_default();
    if last.is_empty() { String::new() } else { format!(":\n  {}", last.join("\n  ")) }
}

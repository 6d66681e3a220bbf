//! Runs the profiler.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::json;

use super::driver::Machine;
use super::error::{Halt, MachineError};
use super::records::{EditStatus, Measurement, Run};
use super::state::Phase;
use crate::interactive::face::Level;
use crate::interactive::programs::{Application, End, Ended, Profiling, ProgramError, run, why};
use crate::interactive::sessions::{EntryKind, HistoryEntry};

/// Prefixes of collections that distort the times of a program.
const DISTURBING: [&str; 3] = ["pmc", "att", "pc-sampling"];
const LAST_LINES: usize = 12;

/// Reason for a program failure, with the end of its output.
pub(super) struct Failure {
    pub reason: String,
    pub tail: String,
}

impl Machine<'_> {
    /// Runs the command the requested number of times. Runs that an earlier process finished are not repeated.
    pub fn measure(&mut self) -> Result<Phase, Halt> {
        let Some(command) = self.state.command.clone() else { return Ok(Phase::Next) };
        if self.state.is_stale {
            self.rebuild()?;
        }
        self.begin_measurement(&command);
        let wanted = self.wanted_runs(&command);
        loop {
            let done = self.state.measuring.as_ref().map_or(0, |one| one.runs.len());
            if done >= wanted {
                return Ok(Phase::Analyze);
            }
            match self.run_once(&command, done + 1, wanted)? {
                Ok(run) => {
                    let fields = json!({ "run": done + 1, "seconds": run.seconds, "traces": run.traces });
                    self.event("run_done", fields);
                    if let Some(measuring) = self.state.measuring.as_mut() {
                        measuring.runs.push(run);
                    }
                    self.save()?;
                }
                Err(failure) => {
                    if let Some(phase) = self.after_failure(&failure)? {
                        return Ok(phase);
                    }
                }
            }
        }
    }

    /// Rebuilds the program after files were reverted, so that the program matches the files.
    pub(crate) fn rebuild(&mut self) -> Result<(), Halt> {
        match self.state.plan.build.clone() {
            Some(line) => {
                let application = Application::of_line(&line)?;
                self.event("command", json!({ "line": line, "for": "rebuild" }));
                let title = format!("build: {line}");
                if let Err(failure) = self.run_program(&application.words, &application.environment, &title)? {
                    let text = format!("the build failed after an edit was taken back: {}", failure.reason);
                    return Err(MachineError::Other(anyhow::anyhow!(text)).into());
                }
            }
            None => {
                let text = "Files were taken back. Build the program now, if it must be built.";
                let choices = [("y", "it is built, go on"), ("q", "stop here")];
                if self.choose("rebuild", text, &choices, Some("y"))? != "y" {
                    return Err(Halt::Quit);
                }
            }
        }
        self.state.is_stale = false;
        self.save()?;
        Ok(())
    }

    /// The number of runs: counters and thread traces need one, times need several to show their noise.
    pub(crate) fn wanted_runs(&self, command: &Profiling) -> usize {
        if has_times(command) { self.state.plan.runs.max(1) as usize } else { 1 }
    }

    fn begin_measurement(&mut self, command: &Profiling) {
        let is_same = self.state.measuring.as_ref().is_some_and(|one| one.command == *command);
        if is_same {
            return;
        }
        let number = self.state.next_measurement;
        self.state.next_measurement += 1;
        let in_files = self.state.edits.iter().rev().find(|edit| edit.status.is_in_files()).map(|edit| edit.id);
        self.state.measuring = Some(Measurement {
            number,
            command: command.clone(),
            runs: Vec::new(),
            edit: in_files,
            is_times: has_times(command),
            span_ns: None,
            findings: Vec::new(),
            judged: None,
        });
    }

    fn run_once(&mut self, command: &Profiling, number: usize, of: usize) -> Result<Result<Run, Failure>, Halt> {
        let measurement = self.state.measuring.as_ref().map_or(0, |one| one.number);
        let directory = self.trace_directory().join(format!("measurement-{measurement}")).join(format!("run-{number}"));
        // Leftovers of a stopped run are not a result.
        if directory.exists() {
            fs::remove_dir_all(&directory).with_context(|| format!("cannot empty {}", directory.display()))?;
        }
        fs::create_dir_all(&directory)
            .with_context(|| format!("cannot make {}; name another folder with --trace-dir", directory.display()))?;
        let profiling = self.retargeted(command, &directory)?;
        let line = profiling.line();
        self.event("command", json!({ "line": line, "run": number, "runs": of, "measurement": measurement }));
        self.save()?;
        let title = format!("run {number} of {of}: {line}");
        let ended = match self.run_program(&profiling.words, &profiling.environment, &title)? {
            Ok(ended) => ended,
            Err(failure) => return Ok(Err(failure)),
        };
        let mut traces = profiling.traces(&directory);
        if traces.is_empty() {
            self.say(
                Level::Warning,
                format!("the command ended well and wrote no trace below {}", directory.display()),
            );
            let text = "Path of the trace, if it is elsewhere (empty: there is none)";
            let path = self.text("measure.trace", text, Some(String::new()), false)?;
            if path.is_empty() || !Path::new(&path).exists() {
                let reason = "the command wrote no trace; check that the application runs on a GPU and that its processes end by themselves";
                return Ok(Err(Failure { reason: reason.to_owned(), tail: ended.tail }));
            }
            traces = vec![PathBuf::from(path)];
        }
        Ok(Ok(Run { directory, traces, seconds: ended.seconds, digest: None }))
    }

    /// Runs a program and prints its lines, until it ends or is stopped.
    pub(super) fn run_program(
        &mut self,
        words: &[String],
        environment: &[(String, String)],
        title: &str,
    ) -> Result<Result<Ended, Failure>, Halt> {
        let (directory, limits) = (self.state.plan.folder.clone(), self.limits());
        self.face.begin(title);
        let is_interrupted = self.face.interruption();
        let ended = run(words, environment, &directory, &limits, &*is_interrupted, &mut |line| self.face.output(line));
        self.face.end();
        let end = match &ended.end {
            End::Code(code) => json!({ "code": code }),
            End::Signal(signal) => json!({ "signal": signal }),
            End::NotFound(_) => json!({ "end": "NotFound" }),
            other => json!({ "end": format!("{other:?}") }),
        };
        self.event("program_ended", json!({ "program": words.first(), "seconds": ended.seconds, "end": end }));
        match ended.end {
            End::Code(0) => Ok(Ok(ended)),
            End::Interrupted => Err(Halt::Interrupted),
            end => Ok(Err(Failure { reason: why(&end, limits.seconds), tail: ended.tail })),
        }
    }

    /// Prints the reason for a program failure, with the last lines of its output.
    pub(super) fn show_failure(&mut self, reason: &str, tail: &str, count: usize) {
        self.say(Level::Error, reason);
        let lines: Vec<&str> = tail.lines().collect();
        for line in lines.iter().skip(lines.len().saturating_sub(count)) {
            self.say(Level::Text, format!("  {line}"));
        }
    }

    /// The same command with another output folder.
    fn retargeted(&self, command: &Profiling, directory: &Path) -> Result<Profiling, ProgramError> {
        let variables = command.environment.iter().map(|(name, value)| format!("{name}={value}"));
        let words: Vec<String> = variables.chain(command.words.iter().cloned()).collect();
        Profiling::of_words(&words, &self.application, directory)
    }

    /// Asks how to proceed after a failed run; `None` to retry.
    fn after_failure(&mut self, failure: &Failure) -> Result<Option<Phase>, Halt> {
        let Failure { reason, tail } = failure;
        self.event("run_failed", json!({ "reason": reason }));
        self.show_failure(reason, tail, LAST_LINES);
        let edit = self.state.open_edit().map(|edit| (edit.id, edit.summary.clone()));
        let mut choices = vec![("r", "run it again"), ("e", "edit the command")];
        if edit.is_some() {
            choices.push(("v", "take the last edit back"));
        }
        choices.push(("a", "stop here; the session can be resumed"));
        // Without a user, nothing would change from one run to the next.
        let default = if edit.is_some() { "v" } else { "a" };
        let answer = self.choose("measure.failure", "The measurement failed.", &choices, Some(default))?;
        match answer.as_str() {
            "r" => Ok(None),
            "e" => {
                self.edit_command()?;
                self.state.measuring = None;
                Ok(Some(Phase::Measure))
            }
            "v" => {
                self.state.measuring = None;
                self.take_back(EditStatus::Reverted, &format!("the program failed under the profiler: {reason}"))?;
                Ok(Some(Phase::Menu))
            }
            _ => Err(MachineError::Other(anyhow::anyhow!("{reason}")).into()),
        }
    }

    pub(crate) fn edit_command(&mut self) -> Result<(), Halt> {
        let Some(old) = self.state.command.clone() else { return Ok(()) };
        loop {
            let line = self.text("command.edit", "Command", Some(old.line()), false)?;
            if line.is_empty() || line == old.line() {
                return Ok(());
            }
            match Profiling::of_line(&line, &self.application, &self.trace_directory()) {
                Ok(command) => {
                    self.state.command = Some(command);
                    return Ok(());
                }
                Err(error) => self.say(Level::Error, error.to_string()),
            }
            if self.yes {
                return Ok(());
            }
        }
    }

    pub(crate) fn note_run(&mut self, measurement: &Measurement, summary: String) {
        let timestamp = self.timestamp();
        self.session.history.push(HistoryEntry {
            kind: EntryKind::ProfilingRun,
            timestamp,
            db_paths: measurement.traces(),
            summary,
            ..HistoryEntry::default()
        });
    }
}

/// Returns whether the times under a command are undistorted.
pub fn has_times(command: &Profiling) -> bool {
    !command.collects().iter().any(|what| DISTURBING.iter().any(|one| what.starts_with(one)))
}

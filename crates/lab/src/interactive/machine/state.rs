//! The state of a session: everything that is needed to continue it, however it ended.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::records::{Blacklisted, CheckpointRecord, EditRecord, Measurement, UNKNOWN_PARENT};
use crate::interactive::programs::Profiling;

/// The next phase. Every phase can be repeated: its work is recorded before and after it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The application and its first command are shown.
    #[default]
    Confirm,
    /// The command runs, as many times as requested.
    Measure,
    /// The new traces are analyzed and compared with the measurement before.
    Analyze,
    /// An edit is kept or reverted, based on its measurement.
    Judge,
    Menu,
    /// An edit is written: by a model, in the editor, or from a patch.
    Propose,
    /// The edit is shown, and accepted or rejected.
    Review,
    /// Its files are written, and the checkpoint is made.
    Apply,
    Build,
    Test,
    Next,
    Finished,
}

/// The origin of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum Origin {
    /// A model, for these findings, in this file.
    Model { findings: Vec<String>, file: PathBuf },
    /// The user's editor, at a line of a file.
    Editor { file: PathBuf, line: u32 },
    /// A patch file.
    Patch { file: PathBuf },
}

impl Origin {
    /// Its name in events.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Model { .. } => "model",
            Self::Editor { .. } => "editor",
            Self::Patch { .. } => "patch",
        }
    }
}

/// The user's requests when the session began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    pub build: Option<String>,
    pub test: Option<String>,
    pub editor: Option<String>,
    /// Patch files that are not applied yet.
    pub patches: Vec<PathBuf>,
    pub runs: u32,
    /// Maximum number of measurements of a session without a user.
    pub iterations: Option<u32>,
    pub time_limit_s: Option<u64>,
    pub trace_dir: Option<PathBuf>,
    /// The folder in which the session was started. Programs run there.
    pub folder: PathBuf,
    /// The user's own first command.
    pub profile: Option<String>,
}

impl Plan {
    /// Returns whether all allowed measurements after the first have started.
    pub(crate) fn is_exhausted(&self, begun: u64) -> bool {
        self.iterations.is_some_and(|most| begun > u64::from(most))
    }
}

/// The state of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub phase: Phase,
    pub plan: Plan,
    /// The next command to measure.
    pub command: Option<Profiling>,
    /// The measurement under way.
    pub measuring: Option<Measurement>,
    pub measurements: Vec<Measurement>,
    /// The origin of the edit that is, or was, to be written.
    pub origin: Option<Origin>,
    pub edits: Vec<EditRecord>,
    /// The next numbers. None is reused, whatever was rolled back.
    pub next_measurement: u64,
    pub next_edit: u64,
    pub next_checkpoint: u64,
    pub checkpoints: Vec<CheckpointRecord>,
    /// The checkpoint that the files match; `None` for the state before the session.
    pub active_checkpoint: Option<u64>,
    /// The commit of HEAD when the session began.
    pub baseline_commit: Option<String>,
    pub blacklist: Vec<Blacklisted>,
    /// Records after the target of a rollback; they can still be read.
    pub undone_checkpoints: Vec<CheckpointRecord>,
    pub undone_measurements: Vec<Measurement>,
    /// Findings that a model was asked about. Without a user, a model is asked only once about each.
    pub asked_about: Vec<String>,
    /// Number of requests to a model to repair the current edit.
    pub repairs: u32,
    /// Whether files were reverted since the program was built.
    pub is_stale: bool,
    /// The output of the last failed build or test.
    pub failure: Option<String>,
}

/// The problem of an edit that was undone by a rollback.
pub(crate) const ROLLED_BACK: &str = "rolled back";

impl State {
    /// The state in a session file.
    pub(crate) fn read(value: &Value) -> serde_json::Result<Self> {
        if value.is_null() {
            return Ok(Self::default());
        }
        let mut state: Self = serde_json::from_value(value.clone())?;
        state.add_parents();
        Ok(state)
    }

    /// Adds the parents that earlier versions did not record. A checkpoint in effect follows the one before it. An
    /// undone one follows the latest earlier one whose edit was not reverted on its own.
    fn add_parents(&mut self) {
        let mut before = None;
        for one in &mut self.checkpoints {
            if one.parent == UNKNOWN_PARENT {
                one.parent = before;
            }
            before = Some(one.id);
        }
        let is_rejected = |one: &&CheckpointRecord| {
            let edit = self.edits.iter().find(|edit| edit.id == one.edit);
            edit.and_then(|edit| edit.problem.as_deref()).is_some_and(|problem| problem != ROLLED_BACK)
        };
        let undone = self.undone_checkpoints.iter().filter(|one| !is_rejected(one));
        let ids: Vec<u64> = self.checkpoints.iter().chain(undone).map(|one| one.id).collect();
        for one in self.undone_checkpoints.iter_mut().filter(|one| one.parent == UNKNOWN_PARENT) {
            one.parent = ids.iter().copied().filter(|id| *id < one.id).max();
        }
    }

    /// The last measurement with a trace of times to compare with.
    pub fn latest(&self) -> Option<&Measurement> {
        self.measurements.last()
    }

    /// The last measurement of a state that the files still have.
    pub(crate) fn latest_kept(&self) -> Option<&Measurement> {
        self.measurements.iter().rev().find(|one| !self.is_taken_back(one))
    }

    /// The current edit: written, but not rejected, reverted or judged.
    pub(crate) fn open_edit(&self) -> Option<&EditRecord> {
        self.edits.last().filter(|edit| edit.status.is_open())
    }

    pub(crate) fn open_edit_mut(&mut self) -> Option<&mut EditRecord> {
        self.edits.last_mut().filter(|edit| edit.status.is_open())
    }

    /// The measurement to compare a new one with: the last one of the same kind of command whose edit was kept.
    pub fn reference(&self, of: &Measurement) -> Option<&Measurement> {
        let is_kept = |one: &&Measurement| {
            one.number != of.number && one.is_times && one.is_comparable(of) && !self.is_taken_back(one)
        };
        self.measurements.iter().rev().find(is_kept)
    }

    /// Returns whether the edit of a measurement was reverted.
    pub(crate) fn is_taken_back(&self, measurement: &Measurement) -> bool {
        let edit = measurement.edit.and_then(|id| self.edits.iter().find(|edit| edit.id == id));
        edit.is_some_and(|edit| edit.status.is_gone())
    }
}

//! Where a session stands: all that is needed to go on after it ended, whatever ended it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::records::{Blacklisted, CheckpointRecord, EditRecord, Measurement};
use crate::interactive::programs::Profiling;

/// The next phase. Every phase can be begun again: what it does is written down before and after it is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The application and its first command are shown.
    #[default]
    Confirm,
    /// The command runs, as often as was asked for.
    Measure,
    /// The new traces are analyzed, and compared with the measurement before.
    Analyze,
    /// An edit is kept or taken back, by what was measured.
    Judge,
    Menu,
    /// An edit is written: by a model, in the editor, or from a patch.
    Propose,
    /// It is shown, and accepted or not.
    Review,
    /// Its files are written, and the checkpoint is made.
    Apply,
    Build,
    Test,
    Next,
    Finished,
}

/// Where an edit comes from.
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
    /// Patch files that are not taken yet.
    pub patches: Vec<PathBuf>,
    pub runs: u32,
    /// Measurements after which a session without a person ends.
    pub iterations: Option<u32>,
    pub time_limit_s: Option<u64>,
    pub trace_dir: Option<PathBuf>,
    /// The folder that the session was started in, which programs run in.
    pub folder: PathBuf,
    /// The user's own first command.
    pub profile: Option<String>,
}

impl Plan {
    /// Whether all measurements after the first that were allowed are begun.
    pub(crate) fn is_exhausted(&self, begun: u64) -> bool {
        self.iterations.is_some_and(|most| begun > u64::from(most))
    }
}

/// Where a session stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    pub phase: Phase,
    pub plan: Plan,
    /// The command that is measured next.
    pub command: Option<Profiling>,
    /// The measurement under way.
    pub measuring: Option<Measurement>,
    pub measurements: Vec<Measurement>,
    /// The source of the edit that is, or was, to be written.
    pub origin: Option<Origin>,
    pub edits: Vec<EditRecord>,
    /// Numbers that come next; none comes twice, whatever was rolled back.
    pub next_measurement: u64,
    pub next_edit: u64,
    pub next_checkpoint: u64,
    pub checkpoints: Vec<CheckpointRecord>,
    /// The checkpoint that the files are at; none for the state in which the session found them.
    pub active_checkpoint: Option<u64>,
    /// The commit that HEAD was at when the session began.
    pub baseline_commit: Option<String>,
    pub blacklist: Vec<Blacklisted>,
    /// Records after the target of a rollback; they stay to be read.
    pub undone_checkpoints: Vec<CheckpointRecord>,
    pub undone_measurements: Vec<Measurement>,
    /// Findings that a model was asked about; without a person none is asked about twice.
    pub asked_about: Vec<String>,
    /// How often a model was asked to mend the edit at hand.
    pub repairs: u32,
    /// Whether files were taken back since the program was built.
    pub is_stale: bool,
    /// The output of the last build or test that failed.
    pub failure: Option<String>,
}

impl State {
    /// The last measurement that has a trace of times to compare with.
    pub fn latest(&self) -> Option<&Measurement> {
        self.measurements.last()
    }

    /// The last measurement of a state that the files still are in.
    pub(crate) fn latest_kept(&self) -> Option<&Measurement> {
        self.measurements.iter().rev().find(|one| !self.is_taken_back(one))
    }

    /// The edit at hand: written, and neither refused, taken back nor judged.
    pub(crate) fn open_edit(&self) -> Option<&EditRecord> {
        self.edits.last().filter(|edit| edit.status.is_open())
    }

    pub(crate) fn open_edit_mut(&mut self) -> Option<&mut EditRecord> {
        self.edits.last_mut().filter(|edit| edit.status.is_open())
    }

    /// The measurement that a new one is compared with: the last whose edit was kept, with the same kind of command.
    pub fn reference(&self, of: &Measurement) -> Option<&Measurement> {
        let is_kept = |one: &&Measurement| {
            one.number != of.number && one.is_times && one.is_comparable(of) && !self.is_taken_back(one)
        };
        self.measurements.iter().rev().find(is_kept)
    }

    /// Whether the edit that a measurement was made with is no longer there.
    pub(crate) fn is_taken_back(&self, measurement: &Measurement) -> bool {
        let edit = measurement.edit.and_then(|id| self.edits.iter().find(|edit| edit.id == id));
        edit.is_some_and(|edit| edit.status.is_gone())
    }
}

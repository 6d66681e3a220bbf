//! Records of a session: measurements, edits, checkpoints and rejected suggestions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::interactive::edits::Edit;
use crate::interactive::programs::Profiling;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    pub directory: PathBuf,
    pub traces: Vec<PathBuf>,
    /// Run time of the whole program under the profiler.
    pub seconds: f64,
    /// The digest for `compare`, once the run is analyzed.
    pub digest: Option<PathBuf>,
}

/// Comparison of a measurement with an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Judged {
    /// Number of the earlier measurement.
    pub with: u64,
    /// The verdict in the words of `compare`: `faster`, `slower`, `same`, `unclear` or `not_comparable`.
    pub verdict: String,
    pub reason: String,
    /// Change of the span in percent; negative is faster.
    pub span_pct: Option<f64>,
    /// Time saved in percent of the time before, as in rocpd: positive is faster.
    pub delta_pct: Option<f64>,
}

/// Runs of one command, and their results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub number: u64,
    pub command: Profiling,
    #[serde(default)]
    pub runs: Vec<Run>,
    /// The latest edit in the program at that time.
    #[serde(default)]
    pub edit: Option<u64>,
    /// Whether times are undistorted: no counters or thread traces were collected.
    #[serde(default)]
    pub is_times: bool,
    /// Mean time from the first to the last activity of a GPU.
    #[serde(default)]
    pub span_ns: Option<i64>,
    #[serde(default)]
    pub findings: Vec<String>,
    #[serde(default)]
    pub judged: Option<Judged>,
}

impl Measurement {
    /// Returns whether the times of both can be compared: both were collected with the same flags.
    pub(crate) fn is_comparable(&self, other: &Self) -> bool {
        self.is_times && other.is_times && self.command.collects() == other.command.collects()
    }

    pub fn traces(&self) -> Vec<PathBuf> {
        self.runs.iter().flat_map(|run| run.traces.clone()).collect()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EditStatus {
    /// Written, but not reviewed.
    #[default]
    Proposed,
    Refused,
    /// Its files are being written.
    Applying,
    Applied,
    /// It builds, or there is no build command.
    Built,
    /// It passed the test, or there is none. Only such an edit is measured.
    Ready,
    /// It was measured and kept.
    Kept,
    /// It did not build, failed the test or was slower, and was reverted.
    Reverted,
}

impl EditStatus {
    /// Returns whether the edit is not finished.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Proposed | Self::Applying | Self::Applied | Self::Built | Self::Ready)
    }

    /// Returns whether the files contain the edit.
    pub(crate) fn is_in_files(self) -> bool {
        matches!(self, Self::Applied | Self::Built | Self::Ready | Self::Kept)
    }

    /// Returns whether the files contained the edit, but no longer do.
    pub fn is_gone(self) -> bool {
        matches!(self, Self::Reverted)
    }
}

/// A complete edit: this record alone is enough to revert it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EditRecord {
    pub id: u64,
    pub timestamp: String,
    /// `model`, `editor` or `patch`.
    pub origin: String,
    /// Folder that its paths are below.
    pub root: PathBuf,
    pub edit: Edit,
    pub status: EditStatus,
    /// Its purpose in one line.
    pub summary: String,
    #[serde(default)]
    pub checkpoint: Option<u64>,
    /// Why it was reverted.
    #[serde(default)]
    pub problem: Option<String>,
}

/// A state of files that can be restored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CheckpointRecord {
    pub id: u64,
    /// The checkpoint before its edit; `None` for the state before the session.
    #[serde(default = "unknown_parent")]
    pub parent: Option<u64>,
    /// The commit and its reference; `None` without git.
    #[serde(default)]
    pub commit: Option<String>,
    #[serde(default)]
    pub reference: Option<String>,
    pub timestamp: String,
    pub edit: u64,
    pub files_modified: Vec<PathBuf>,
    pub edit_summary: String,
    /// Texts at this checkpoint of all files that the session changed so far; `None` for a file that did not exist.
    pub file_snapshots: BTreeMap<PathBuf, Option<String>>,
    /// Number of the measurement of this state.
    #[serde(default)]
    pub measurement: Option<u64>,
    /// Time saved since the measurement before, in percent of that one: positive is faster.
    #[serde(default)]
    pub performance_delta_pct: Option<f64>,
    #[serde(default)]
    pub verdict: Option<String>,
    #[serde(default)]
    pub blacklisted: bool,
}

/// Parent of a checkpoint of an earlier version, which did not record it; no checkpoint has this number.
pub(crate) const UNKNOWN_PARENT: Option<u64> = Some(u64::MAX);

fn unknown_parent() -> Option<u64> {
    UNKNOWN_PARENT
}

/// A suggestion that a model must not repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Blacklisted {
    pub category: String,
    pub description: String,
}

/// Time saved in percent of the time before, to one decimal.
pub(crate) fn shorter_pct(before_ns: i64, after_ns: i64) -> Option<f64> {
    if before_ns <= 0 {
        return None;
    }
    let share = (before_ns - after_ns) as f64 / before_ns as f64 * 100.0;
    Some((share * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_shorter_times() {
        assert_eq!(shorter_pct(1_000_000, 900_000), Some(10.0));
        assert_eq!(shorter_pct(900_000, 1_503_000), Some(-67.0));
        assert_eq!(shorter_pct(0, 5), None);
    }
}

//! The request to a replaying process.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::compare::Tolerances;

/// The extent of a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Only checks whether the recorded addresses are free.
    Addresses,
    /// The whole replay.
    #[default]
    Full,
}

/// A capture, and how to replay it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The directory of the capture.
    pub capture: PathBuf,
    pub mode: Mode,
    /// Another code object in place of the captured one.
    pub hsaco: Option<PathBuf>,
    /// The HSA runtime: its file, or a directory with it.
    pub runtime: Option<PathBuf>,
    /// The number of the GPU among those of the runtime.
    pub gpu: usize,
    /// Number of measured dispatches.
    pub iterations: u32,
    /// Number of warm-up dispatches before them.
    pub warm_up: u32,
    /// Whether each dispatch starts with the memory of the one before.
    pub is_stateful: bool,
    /// The directory for the memory after the last dispatch.
    pub save: Option<PathBuf>,
    /// The expected memory after the last dispatch: a capture, or saved memory.
    pub expect: Option<PathBuf>,
    /// Tolerances for differences.
    pub tolerances: Tolerances,
    /// Whether memory that was not captured is filled with zeros.
    pub allows_missing: bool,
    /// Number of threads that read and compare.
    pub threads: usize,
}

//! The request to a process that replays.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::compare::Tolerances;

/// How far a replay goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Only whether the recorded addresses are free.
    Addresses,
    /// All of it.
    #[default]
    Full,
}

/// A capture, and what is done with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The directory of the capture.
    pub capture: PathBuf,
    pub mode: Mode,
    /// Another code object in the place of the captured one.
    pub hsaco: Option<PathBuf>,
    /// The HSA runtime: its file, or a directory with it.
    pub runtime: Option<PathBuf>,
    /// The number of the GPU among those of the runtime.
    pub gpu: usize,
    /// Dispatches that are measured.
    pub iterations: u32,
    /// Dispatches before them.
    pub warm_up: u32,
    /// Whether each dispatch finds what the one before left.
    pub is_stateful: bool,
    /// Where memory goes after the last dispatch.
    pub save: Option<PathBuf>,
    /// The expected memory after that: a capture, or memory that was saved.
    pub expect: Option<PathBuf>,
    /// Differences that are allowed.
    pub tolerances: Tolerances,
    /// Whether memory that was not captured is taken for zeros.
    pub allows_missing: bool,
    /// Threads that read and compare.
    pub threads: usize,
}

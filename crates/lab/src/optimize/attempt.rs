//! The record of an attempt: a line of `attempts.jsonl`.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::commands::Ran;
use super::gates::GateResult;

/// One candidate, with all results about it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Attempt {
    /// Number of the attempt, from one.
    pub attempt: u32,
    /// The transform or model that proposed it.
    pub proposer: String,
    /// The attempt that it changes; zero is the original program.
    pub base: u32,
    /// How often this proposal was corrected because it did not build or fit.
    pub repair: u32,
    /// The reason for the proposal.
    pub reason: String,
    /// The text that was sent to a model, after redaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The change against its base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The run of the build command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<Ran>,
    /// Time of a dispatch in each run, in ns.
    pub base_ns: Vec<f64>,
    pub candidate_ns: Vec<f64>,
    /// Gates up to the first failed one.
    pub gates: Vec<GateResult>,
    pub is_accepted: bool,
    /// The reason why the attempt has no candidate, such as an incomplete answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Attempt {
    /// Appends the attempt to the log.
    pub(super) fn log(&self, path: &Path) -> Result<()> {
        let context = || format!("cannot write {}", path.display());
        let mut file = OpenOptions::new().append(true).create(true).open(path).with_context(context)?;
        let line = serde_json::to_string(self)? + "\n";
        file.write_all(line.as_bytes()).with_context(context)
    }
}

//! The record of an attempt: a line of `attempts.jsonl`.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use super::commands::Ran;
use super::gates::GateResult;

/// One candidate, with all that was found about it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Attempt {
    /// From one.
    pub attempt: u32,
    /// The transform or model that proposed it.
    pub proposer: String,
    /// The attempt that it changes; zero is the program as it is.
    pub base: u32,
    /// How often this proposal was written again because it did not build or fit.
    pub repair: u32,
    /// Why it was proposed.
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
    /// The compiler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<Ran>,
    /// Time of a dispatch in each run, in ns.
    pub base_ns: Vec<f64>,
    pub candidate_ns: Vec<f64>,
    /// Gates up to the first that it failed.
    pub gates: Vec<GateResult>,
    pub is_accepted: bool,
    /// Why the attempt has no candidate, such as an answer that is cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Attempt {
    /// Appends it to the log.
    pub(super) fn log(&self, path: &Path) -> Result<()> {
        let context = || format!("cannot write {}", path.display());
        let mut file = OpenOptions::new().append(true).create(true).open(path).with_context(context)?;
        let line = serde_json::to_string(self)? + "\n";
        file.write_all(line.as_bytes()).with_context(context)
    }
}

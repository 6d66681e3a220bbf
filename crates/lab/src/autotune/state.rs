//! The file of results: a line that describes the search, and a line for each run. A search can continue even if the
//! file was cut at any byte.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::AutotuneError;
use super::history::{History, Outcome};
use super::objective::shortened;
use super::space::Space;
use wavesieve_model::text::fnv::fnv1a;

const VERSION: u32 = 1;
/// Characters of each side that a message about different searches shows.
const SHOWN: usize = 120;

/// The subject of a search. Results of different searches do not mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Version of the file.
    pub autotune: u32,
    /// Digest of the parameters and their values.
    pub space: String,
    pub command: Vec<String>,
    /// The measured number, in words.
    pub measure: String,
}

impl Subject {
    pub fn new(space: &Space, command: &[String], measure: String) -> Self {
        Self { autotune: VERSION, space: digest(space), command: command.to_vec(), measure }
    }

    fn line(&self) -> Result<String, AutotuneError> {
        line_of(self, Path::new(""))
    }

    /// Returns the first field that differs from another subject, with both values.
    fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let command = |subject: &Self| shortened(&subject.command.join(" "), SHOWN);
        if self.autotune != other.autotune {
            return Some(("version", self.autotune.to_string(), other.autotune.to_string()));
        }
        if self.space != other.space {
            return Some(("space of parameters", self.space.clone(), other.space.clone()));
        }
        if self.command != other.command {
            return Some(("command", command(self), command(other)));
        }
        (self.measure != other.measure)
            .then(|| ("measure", shortened(&self.measure, SHOWN), shortened(&other.measure, SHOWN)))
    }
}

/// A run, as the file stores it.
#[derive(Debug, Serialize, Deserialize)]
struct RunEntry {
    /// The texts of the parameter values.
    parameters: BTreeMap<String, String>,
    #[serde(flatten)]
    outcome: Outcome,
    seconds: f64,
}

/// The open file. No other process writes to it.
#[derive(Debug)]
pub struct State {
    path: PathBuf,
    file: File,
}

impl State {
    /// Opens or creates the file, and returns the runs in it. An unfinished last line is removed.
    ///
    /// # Errors
    /// When it belongs to another search, is not a file of results, is damaged before its last line, is in use, or is
    /// not a regular file.
    pub fn open(path: &Path, subject: &Subject, space: &Space) -> Result<(Self, History), AutotuneError> {
        let read = |cause| AutotuneError::Read { path: path.to_owned(), cause };
        let write = |cause| AutotuneError::Write { path: path.to_owned(), cause };
        // Checked before the file is opened: reading a FIFO or a terminal would wait forever.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(AutotuneError::NoStateFile { path: path.to_owned() });
        }
        let opened = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = opened.map_err(|cause| AutotuneError::OpenState { path: path.to_owned(), cause })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(AutotuneError::StateInUse { path: path.to_owned() }),
            Err(TryLockError::Error(_)) => {} // Some file systems of clusters have no locks.
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(read)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let header = subject.line()?;
        if whole == 0 && !header.as_bytes().starts_with(&bytes) {
            let reason = "it is not a file of results of `lab autotune`".to_owned();
            return Err(AutotuneError::DamagedState { path: path.to_owned(), line: 1, reason });
        }
        let history = history(path, bytes.get(..whole).unwrap_or_default(), subject, space)?;
        let mut state = Self { path: path.to_owned(), file };
        if whole < bytes.len() {
            state.file.set_len(whole as u64).map_err(write)?;
            state.file.seek(SeekFrom::End(0)).map_err(write)?;
        }
        if whole == 0 {
            state.append(&header)?;
        }
        Ok((state, history))
    }

    /// Adds a run.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(
        &mut self,
        space: &Space,
        configuration: usize,
        outcome: &Outcome,
        seconds: f64,
    ) -> Result<(), AutotuneError> {
        let parameters =
            space.values(configuration).map(|(name, value)| (name.to_owned(), value.to_string())).collect();
        let line = line_of(&RunEntry { parameters, outcome: outcome.clone(), seconds }, &self.path)?;
        self.append(&line)
    }

    fn append(&mut self, line: &str) -> Result<(), AutotuneError> {
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|cause| AutotuneError::Write { path: self.path.clone(), cause })
    }
}

fn history(path: &Path, bytes: &[u8], subject: &Subject, space: &Space) -> Result<History, AutotuneError> {
    let damaged =
        |number: usize, reason: String| AutotuneError::DamagedState { path: path.to_owned(), line: number + 1, reason };
    let mut history = History::new(space.len());
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if number == 0 {
            let found: Subject = serde_json::from_slice(line)
                .map_err(|_| damaged(0, "it is not a file of results of `lab autotune`".to_owned()))?;
            if let Some((what, before, now)) = found.difference(subject) {
                return Err(AutotuneError::OtherState { path: path.to_owned(), what, before, now });
            }
            continue;
        }
        let entry: RunEntry = serde_json::from_slice(line).map_err(|error| damaged(number, error.to_string()))?;
        let configuration = space.find(&entry.parameters);
        let configuration =
            configuration.ok_or_else(|| damaged(number, "the space has no such configuration".to_owned()))?;
        history.add(configuration, &entry.outcome);
    }
    Ok(history)
}

fn line_of(content: &impl Serialize, path: &Path) -> Result<String, AutotuneError> {
    let line = serde_json::to_string(content)
        .map_err(|error| AutotuneError::Write { path: path.to_owned(), cause: error.into() })?;
    Ok(line + "\n")
}

/// A hash of the names and values.
fn digest(space: &Space) -> String {
    let mut bytes = Vec::new();
    for (name, value) in (0..space.len()).flat_map(|configuration| space.values(configuration)) {
        bytes.extend_from_slice(format!("{name}\0{value}\0").as_bytes());
    }
    format!("{} configurations, {:016x}", space.len(), fnv1a(&bytes))
}

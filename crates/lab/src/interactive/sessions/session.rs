//! The content of a session.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The format that this program writes; 0 is a session of rocpd.
pub(super) const FORMAT: u32 = 1;

/// The start of a session: traces or a program.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// With traces.
    #[default]
    Interactive,
    /// With a program that is profiled.
    Workflow,
}

impl SessionKind {
    /// Its name in files and lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Workflow => "workflow",
        }
    }
}

/// A session. Unknown fields of its file are kept in `other`, and written again.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Session {
    pub format: u32,
    #[serde(deserialize_with = "or_default")]
    pub session_id: String,
    #[serde(rename = "type")]
    pub kind: SessionKind,
    /// A UTC time, such as `2026-01-31T12:00:00Z`.
    #[serde(deserialize_with = "or_default")]
    pub created_at: String,
    #[serde(deserialize_with = "or_default")]
    pub last_updated: String,
    /// The folder that paths of the session are relative to.
    #[serde(rename = "source_dir", deserialize_with = "or_default")]
    pub root: PathBuf,
    #[serde(deserialize_with = "or_default")]
    pub source_paths: Vec<PathBuf>,
    #[serde(deserialize_with = "or_default")]
    pub inputs: Vec<PathBuf>,
    #[serde(deserialize_with = "or_default")]
    pub application: Vec<String>,
    /// The state of the state machine.
    pub state: Value,
    #[serde(deserialize_with = "or_default")]
    pub history: Vec<HistoryEntry>,
    #[serde(deserialize_with = "or_default")]
    pub persistent_menu_items: Vec<MenuItem>,
    pub conversation: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    pub sent_source_files: Vec<String>,
    /// The work tree with the checkpoints.
    pub repository: Option<PathBuf>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// An event in a session.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct HistoryEntry {
    #[serde(rename = "type")]
    pub kind: EntryKind,
    #[serde(deserialize_with = "or_default")]
    pub timestamp: String,
    /// The traces of a run.
    #[serde(alias = "db_path", deserialize_with = "one_or_more", skip_serializing_if = "Vec::is_empty")]
    pub db_paths: Vec<PathBuf>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub summary: String,
    /// The change itself; `sessions export` writes it as a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<Value>,
    /// The checkpoint of a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u64>,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A kind of event in a session.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A program was profiled, or a trace analyzed.
    #[default]
    ProfilingRun,
    /// Source code was changed.
    CodeChange,
    /// A kind that this version does not know.
    #[serde(untagged)]
    Other(String),
}

/// A finding that a session offers to work on.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct MenuItem {
    #[serde(deserialize_with = "or_default")]
    pub id: String,
    #[serde(deserialize_with = "or_default")]
    pub title: String,
    #[serde(deserialize_with = "or_default")]
    pub priority: String,
    #[serde(deserialize_with = "or_default")]
    pub source: String,
    #[serde(deserialize_with = "or_default")]
    pub added_at: String,
    pub detail: Value,
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A value. Other programs write null for a missing one.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Paths. Other programs write a single one, or null for none.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Paths {
        One(PathBuf),
        More(Vec<PathBuf>),
    }
    Ok(match Option::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Paths::One(path)) if path.as_os_str().is_empty() => Vec::new(),
        Some(Paths::One(path)) => vec![path],
        Some(Paths::More(paths)) => paths,
    })
}

//! Lists of sessions.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::clock::instant;
use super::lock::SessionLock;
use super::names::is_identifier;
use super::place::is_same_folder;
use super::read::read;
use super::session::{EntryKind, Session, SessionKind};
use super::store::{Store, file_in};
use wavesieve_input::is_unfinished;

/// The program that a session belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// A session of this program.
    Wavesieve,
    /// A session of rocpd or rocinsight: it can be read and continued, but is never changed.
    Rocpd,
}

/// A line of the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listed {
    #[serde(rename = "session_id")]
    pub id: String,
    #[serde(rename = "type")]
    pub kind: SessionKind,
    pub owner: Owner,
    pub created_at: String,
    pub last_updated: String,
    #[serde(rename = "source_dir")]
    pub root: PathBuf,
    /// Runs, changes and saved findings.
    pub runs: usize,
    pub changes: usize,
    pub items: usize,
    /// Whether a process uses it.
    pub is_in_use: bool,
    pub path: PathBuf,
}

impl Listed {
    pub fn of(session: &Session, owner: Owner, path: PathBuf, is_in_use: bool) -> Self {
        let count = |kind: &EntryKind| session.history.iter().filter(|entry| entry.kind == *kind).count();
        Self {
            id: session.session_id.clone(),
            kind: session.kind,
            owner,
            created_at: session.created_at.clone(),
            last_updated: session.last_updated.clone(),
            root: session.root.clone(),
            runs: count(&EntryKind::ProfilingRun),
            changes: count(&EntryKind::CodeChange),
            items: session.persistent_menu_items.len(),
            is_in_use,
            path,
        }
    }

    /// Returns whether the session belongs to a source folder.
    pub fn is_of(&self, root: &Path) -> bool {
        is_same_folder(&self.root, root)
    }

    /// The time of the last activity, if known.
    pub fn last_used(&self) -> Option<SystemTime> {
        let changed = || fs::metadata(&self.path).and_then(|data| data.modified()).ok();
        instant(&self.last_updated).or_else(|| instant(&self.created_at)).or_else(changed)
    }
}

impl Store {
    /// All sessions, the newest first, and warnings about files that are not sessions. If two have the same identifier,
    /// the own one is listed.
    pub fn list(&self) -> (Vec<Listed>, Vec<String>) {
        let (mut listed, mut warnings): (Vec<Listed>, Vec<String>) = Default::default();
        let own = (self.directory(), Owner::Wavesieve);
        for (place, owner) in [own].into_iter().chain(self.others().iter().map(|place| (place.as_path(), Owner::Rocpd)))
        {
            for path in session_files(place, &mut warnings) {
                match read(&path) {
                    Err(error) => warnings.push(error.to_string()),
                    // A copy under another name would be listed twice but found once.
                    Ok(session) if file_in(place, &session.session_id) != path => warnings.push(format!(
                        "{} holds session `{}`, whose file is named otherwise; rename or remove it",
                        path.display(),
                        session.session_id
                    )),
                    Ok(session) if listed.iter().any(|other| other.id == session.session_id) => {}
                    Ok(session) => {
                        let folder = self.work_directory(&session.session_id);
                        let is_in_use = owner == Owner::Wavesieve && SessionLock::is_held(&folder);
                        listed.push(Listed::of(&session, owner, path, is_in_use));
                    }
                }
            }
        }
        listed.sort_by(|one, other| {
            (instant(&other.created_at), &other.created_at, &other.id).cmp(&(
                instant(&one.created_at),
                &one.created_at,
                &one.id,
            ))
        });
        (listed, warnings)
    }
}

impl Store {
    /// Trace folders whose session was never saved, and the times of their last change.
    pub fn strays(&self) -> Vec<(String, Option<SystemTime>)> {
        let entries = fs::read_dir(self.directory()).into_iter().flatten().flatten();
        let mut strays: Vec<(String, Option<SystemTime>)> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?.modified().ok())))
            .filter(|(id, _)| is_identifier(id) && !file_in(self.directory(), id).exists())
            .collect();
        strays.sort();
        strays
    }
}

fn session_files(place: &Path, warnings: &mut Vec<String>) -> Vec<PathBuf> {
    let entries = match fs::read_dir(place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            warnings.push(format!("cannot read {}: {error}", place.display()));
            return Vec::new();
        }
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let is_session = |path: &PathBuf| {
        let is_named = path.extension().is_some_and(|extension| extension == "json") && !path.is_dir();
        // Workflows of rocpd keep conversation archives next to sessions.
        is_named && !path.file_name().is_some_and(is_unfinished)
    };
    files.retain(is_session);
    files.sort();
    files
}

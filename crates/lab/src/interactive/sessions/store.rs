//! The folder of sessions: a file for each, and a folder for its traces and logs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::SessionError;
use super::lock::SessionLock;
use super::names::{identifier, is_valid};
use super::place;
use super::read::read;
use super::session::{FORMAT, Session, SessionKind};
use wavesieve_export::atomic::write_private_file;
use wavesieve_model::text::time::utc;

/// The folder of sessions, and the folders of other programs, which are only read.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
    others: Vec<PathBuf>,
}

impl Store {
    /// Opens the sessions of a folder; by default of $WAVESIEVE_SESSIONS, $XDG_STATE_HOME/wavesieve/sessions or
    /// ~/.local/state/wavesieve/sessions. Nothing is created until a session is saved.
    ///
    /// # Errors
    /// When no folder is named and the home directory is unknown.
    pub fn new(directory: Option<PathBuf>) -> Result<Self, SessionError> {
        Ok(Self { directory: place::own(directory)?, others: place::others() })
    }

    /// Opens the sessions of a folder and of other programs.
    #[cfg(test)]
    pub fn of(directory: &Path, others: &[&Path]) -> Self {
        Self { directory: directory.to_owned(), others: others.iter().map(|path| path.to_path_buf()).collect() }
    }

    /// The folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn others(&self) -> &[PathBuf] {
        &self.others
    }

    /// Makes a session with an unused identifier. Another process can choose the same until one of them has locked it;
    /// see [`Store::begin`].
    pub fn create(&self, kind: SessionKind, root: &Path, now: SystemTime) -> Session {
        let first = identifier(kind, root, now);
        let is_taken = |id: &String| {
            let places = [&self.directory].into_iter().chain(&self.others);
            self.work_directory(id).exists() || places.map(|place| file_in(place, id)).any(|file| file.exists())
        };
        let later = (2..).map(|number| format!("{first}-{number}"));
        let id = [first.clone()].into_iter().chain(later).find(|id| !is_taken(id)).unwrap_or(first.clone());
        let time = utc(now);
        let root = root.to_owned();
        Session {
            format: FORMAT,
            session_id: id,
            kind,
            created_at: time.clone(),
            last_updated: time,
            root,
            ..Session::default()
        }
    }

    /// Makes a session and locks it, whatever other processes begin in the same second.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn begin(
        &self,
        kind: SessionKind,
        root: &Path,
        now: SystemTime,
    ) -> Result<(Session, SessionLock), SessionError> {
        loop {
            let session = self.create(kind, root, now);
            match self.lock(&session.session_id) {
                // The other process has made the folder of that name.
                Err(SessionError::InUse(_)) => {}
                locked => return locked.map(|lock| (session, lock)),
            }
        }
    }

    /// Writes a session: completely or not at all, and readable only by its owner.
    ///
    /// # Errors
    /// When the identifier is not valid, or the file cannot be written.
    pub fn save(&self, session: &mut Session, now: SystemTime) -> Result<PathBuf, SessionError> {
        self.check(&session.session_id)?;
        session.last_updated = utc(now);
        session.format = FORMAT;
        let path = file_in(&self.directory, &session.session_id);
        let failed = |reason: String| SessionError::Write { path: path.clone(), reason };
        let mut bytes = serde_json::to_vec_pretty(session).map_err(|error| failed(error.to_string()))?;
        bytes.push(b'\n');
        place::make_private(&self.directory)?;
        write_private_file(&path, &bytes).map_err(|error| failed(error.root_cause().to_string()))?;
        Ok(path)
    }

    /// Reads a session of this program or of rocpd, by its identifier or the path of its file.
    ///
    /// # Errors
    /// When the session does not exist, or its file is not a session.
    pub fn load(&self, id_or_path: &str) -> Result<Session, SessionError> {
        read(&self.find(id_or_path)?.0)
    }

    /// The file of a session, and whether it belongs to another program.
    ///
    /// # Errors
    /// When the session does not exist.
    pub fn find(&self, id_or_path: &str) -> Result<(PathBuf, bool), SessionError> {
        let path = Path::new(id_or_path);
        let not_found = || SessionError::NotFound { id: id_or_path.to_owned(), place: self.directory.clone() };
        if id_or_path.contains('/') || path.extension().is_some_and(|extension| extension == "json") {
            let known = |place: &PathBuf| path.parent().is_some_and(|parent| place::is_same_folder(parent, place));
            return path.exists().then(|| (path.to_owned(), !known(&self.directory))).ok_or_else(not_found);
        }
        self.check(id_or_path)?;
        let own = [(&self.directory, false)].into_iter().chain(self.others.iter().map(|place| (place, true)));
        own.map(|(place, is_other)| (file_in(place, id_or_path), is_other))
            .find(|(file, _)| file.exists())
            .ok_or_else(not_found)
    }

    /// The sessions of a source folder, the newest first.
    pub(crate) fn of_root(&self, root: &Path) -> Vec<Session> {
        let (listed, _) = self.list();
        let here = listed.into_iter().filter(|one| place::is_same_folder(&one.root, root));
        here.filter_map(|one| read(&one.path).ok()).collect()
    }

    /// Locks a session, which only one process can do.
    ///
    /// # Errors
    /// When another process holds the lock, or the folder cannot be written.
    pub fn lock(&self, id: &str) -> Result<SessionLock, SessionError> {
        self.check(id)?;
        SessionLock::new(id, &self.work_directory(id))
    }

    /// The folder for traces and logs of a session.
    pub fn work_directory(&self, id: &str) -> PathBuf {
        self.directory.join(id)
    }

    /// Removes a session with its traces and logs.
    ///
    /// # Errors
    /// When the session does not exist, belongs to another program, or is in use by a process, or its files cannot be
    /// removed.
    #[cfg(test)]
    pub fn remove(&self, id: &str) -> Result<(), SessionError> {
        self.check(id)?;
        if !self.is_own(id)? {
            let (path, _) = self.find(id)?;
            return Err(SessionError::Foreign { id: id.to_owned(), path });
        }
        self.remove_locked(self.lock(id)?)
    }

    /// Removes a session that this process has locked.
    ///
    /// # Errors
    /// When its files cannot be removed.
    pub fn remove_locked(&self, lock: SessionLock) -> Result<(), SessionError> {
        let id = lock.id().to_owned();
        // A session without traces can still be named; traces without their session cannot.
        place::remove_contents(&self.work_directory(&id), lock.path())?;
        place::remove(&file_in(&self.directory, &id))?;
        Ok(())
    }

    /// Returns whether a session, or a remainder of one, is in the folder.
    ///
    /// # Errors
    /// When the name is not an identifier.
    pub fn is_own(&self, id: &str) -> Result<bool, SessionError> {
        self.check(id)?;
        Ok(fs::symlink_metadata(file_in(&self.directory, id)).is_ok() || self.work_directory(id).is_dir())
    }

    fn check(&self, id: &str) -> Result<(), SessionError> {
        if is_valid(id) { Ok(()) } else { Err(SessionError::InvalidId(id.to_owned())) }
    }
}

pub(super) fn file_in(place: &Path, id: &str) -> PathBuf {
    place.join(format!("{id}.json"))
}

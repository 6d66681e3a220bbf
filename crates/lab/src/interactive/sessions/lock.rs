//! Locks a session for one process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::SessionError;
use super::place::make_private;
use wavesieve_files::regular;

/// Name of the locked file in the folder of a session.
const NAME: &str = ".lock";
/// Number of attempts to lock, and the pause between them.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// The exclusive right to work on a session, until it is dropped or the process ends.
#[derive(Debug)]
pub struct SessionLock {
    id: String,
    path: PathBuf,
    /// Closing it releases the lock.
    _file: File,
}

impl SessionLock {
    pub(super) fn new(id: &str, folder: &Path) -> Result<Self, SessionError> {
        let path = folder.join(NAME);
        let failed = |error: std::io::Error| SessionError::Write { path: path.clone(), reason: error.to_string() };
        let mut attempts = 0;
        // Files behind a link do not belong to this session, and would be removed with it.
        if fs::symlink_metadata(folder).is_ok_and(|found| found.is_symlink()) {
            let reason = "it is a link and not the folder of a session; remove the link".to_owned();
            return Err(SessionError::Write { path: folder.to_owned(), reason });
        }
        loop {
            make_private(folder)?;
            let mut options = OpenOptions::new();
            options.create(true).write(true).truncate(false);
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = match options.open(&path) {
                // A process that ended has removed the folder.
                Err(error) if error.kind() == ErrorKind::NotFound && attempts < ATTEMPTS => {
                    attempts += 1;
                    continue;
                }
                opened => opened.map_err(failed)?,
            };
            match file.try_lock() {
                // A process that only lists sessions releases the lock at once.
                Err(TryLockError::WouldBlock) if attempts < ATTEMPTS => {
                    attempts += 1;
                    std::thread::sleep(PAUSE);
                    continue;
                }
                Err(TryLockError::WouldBlock) => return Err(SessionError::InUse(id.to_owned())),
                // A file system without locks: users must avoid concurrent use themselves.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // Another process may have removed it before it was locked.
            if is_same(&file, &path) {
                return Ok(Self { id: id.to_owned(), path, _file: file });
            }
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_held(folder: &Path) -> bool {
        let file = regular::open(&folder.join(NAME));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // Only an empty folder is removed.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |data: fs::Metadata| (data.dev(), data.ino());
    file.metadata().ok().map(identity) == fs::metadata(path).ok().map(identity)
}

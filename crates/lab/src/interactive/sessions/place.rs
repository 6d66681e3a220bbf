//! Directories of sessions.

use std::fs::{self, DirBuilder};
use std::path::{Path, PathBuf};

use super::error::SessionError;

/// The folder of this program's sessions: the named one, or the one from the environment.
pub(super) fn own(named: Option<PathBuf>) -> Result<PathBuf, SessionError> {
    let below = |base: PathBuf| base.join("wavesieve").join("sessions");
    let state = || absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local").join("state")));
    let named = named.or_else(|| variable("WAVESIEVE_SESSIONS"));
    let place = named.or_else(|| state().map(below)).ok_or(SessionError::NoPlace)?;
    // The path stays valid if the program changes its folder later.
    Ok(std::path::absolute(&place).unwrap_or(place))
}

/// The folders of rocpd and rocinsight.
pub(super) fn others() -> Vec<PathBuf> {
    let Some(home) = absolute("HOME") else { return Vec::new() };
    [".rocpd", ".rocinsight"].map(|name| home.join(name).join("sessions")).into()
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The path in a variable. A relative path is ignored, as the XDG specification requires.
fn absolute(name: &str) -> Option<PathBuf> {
    variable(name).filter(|path| path.is_absolute())
}

/// Creates a folder and its parents, with access only for the owner.
pub(super) fn make_private(folder: &Path) -> Result<(), SessionError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(folder);
    made.map_err(|error| SessionError::Write { path: folder.to_owned(), reason: error.to_string() })
}

/// Removes a file or folder; a missing one is not an error.
pub(super) fn remove(path: &Path) -> Result<(), SessionError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    removed.map_err(|error| SessionError::Remove { path: path.to_owned(), error })
}

/// Removes the content of a folder, except for one file.
pub(super) fn remove_contents(folder: &Path, but: &Path) -> Result<(), SessionError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|error| SessionError::Remove { path: folder.to_owned(), error })?,
    };
    entries.flatten().map(|entry| entry.path()).filter(|path| path != but).try_for_each(|path| remove(&path))
}

pub(super) fn is_same_folder(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    one == other || resolved(one) == resolved(other)
}

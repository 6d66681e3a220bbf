//! Temporary files and directories of writers that ended without removing them, for example by SIGKILL, SIGBUS or a power loss.
//!
//! A writer locks its temporary file or directory, and the system releases the lock when the process ends. The next writer into the same
//! directory removes old ones that no process locks.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// Minimum age for removal. A younger file may belong to a process that has not locked it yet, or to a version without locks.
const AGE: Duration = Duration::from_secs(3600);
/// Number of letters after the start of a temporary name. Resumable conversions and edits have names of other forms.
const LETTERS: usize = 6;
/// Folder in which a replacing directory keeps the earlier content.
const BEFORE: &str = "old";

/// Locks a file or directory until the returned file is closed. If it cannot be locked, it is not removed either.
pub fn hold(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Removes leftovers with this start of their name from a directory, once per process.
pub fn sweep(directory: &Path, start: &'static str) {
    static SWEPT: LazyLock<Mutex<BTreeSet<(PathBuf, &str)>>> = LazyLock::new(Mutex::default);
    let Ok(place) = directory.canonicalize() else { return };
    if SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert((place, start)) {
        sweep_now(directory, start);
    }
}

/// Removes old leftovers that no process locks, also repeatedly.
pub fn sweep_now(directory: &Path, start: &str) {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|entry| is_temporary(&entry.file_name(), start)) {
        let path = entry.path();
        if path.symlink_metadata().is_ok_and(|metadata| is_left(&metadata)) && !holds_what_was_there(&path) {
            // The lock is held until the entry is removed.
            let Some(_held) = hold(&path) else { continue };
            // Another process may remove it at the same time.
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

fn is_temporary(name: &OsStr, start: &str) -> bool {
    let letters = name.to_str().and_then(|name| name.strip_prefix(start));
    letters.is_some_and(|letters| letters.len() == LETTERS && letters.chars().all(|one| one.is_ascii_alphanumeric()))
}

/// Whether an entry is an old file or directory of this user.
fn is_left(metadata: &Metadata) -> bool {
    let age = metadata.modified().ok().and_then(|modified| modified.elapsed().ok());
    let kind = metadata.file_type();
    (kind.is_file() || kind.is_dir()) && age.is_some_and(|age| age > AGE) && is_own(metadata)
}

fn is_own(metadata: &Metadata) -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == metadata.uid())
}

/// Whether a directory has the only copy of the earlier content of the directory that it was meant to replace.
fn holds_what_was_there(path: &Path) -> bool {
    fs::read_dir(path.join(BEFORE)).is_ok_and(|mut entries| entries.next().is_some())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::UNFINISHED;

    /// Makes a file old, like a leftover.
    fn age(path: &Path) {
        let before = SystemTime::now() - AGE - AGE;
        File::open(path).unwrap().set_modified(before).unwrap();
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn what_nobody_holds_is_removed_when_it_is_old() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for file in
            [".wavesieve-aB3dE6", ".wavesieve-held00", ".wavesieve-conversion-1", ".wavesieve-edit-0-aB3dE6", "mine"]
        {
            fs::write(at(file), "x").unwrap();
            age(&at(file));
        }
        fs::write(at(".wavesieve-young0"), "x").unwrap();
        fs::create_dir_all(at(".wavesieve-folder/new/part")).unwrap();
        fs::create_dir_all(at(".wavesieve-before/old")).unwrap();
        fs::write(at(".wavesieve-before/old/kept"), "x").unwrap();
        for folder in [".wavesieve-folder", ".wavesieve-before"] {
            age(&at(folder));
        }
        std::os::unix::fs::symlink("mine", at(".wavesieve-link00")).unwrap();
        let held = hold(&at(".wavesieve-held00")).unwrap();
        sweep_now(place.path(), UNFINISHED);
        let kept = [
            ".wavesieve-before",
            ".wavesieve-conversion-1",
            ".wavesieve-edit-0-aB3dE6",
            ".wavesieve-held00",
            ".wavesieve-link00",
            ".wavesieve-young0",
            "mine",
        ];
        assert_eq!(names(place.path()), kept);
        drop(held);
        sweep_now(place.path(), UNFINISHED);
        assert!(!at(".wavesieve-held00").exists());
    }
}

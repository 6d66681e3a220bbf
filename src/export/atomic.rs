//! Files that appear whole or not at all.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use tempfile::{Builder, TempDir};

use crate::input::{UNFINISHED, is_unfinished};

/// Writes a file through a temporary one beside it, which takes its name when everything is written.
///
/// # Errors
/// When the directory cannot be written to, or `write` fails; then nothing is left behind.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let directory = parent(path);
    let file = Builder::new().prefix(UNFINISHED).tempfile_in(directory);
    let mut file =
        file.map_err(own_cause).with_context(|| format!("cannot create a file in {}", directory.display()))?;
    write(&mut file).with_context(|| format!("cannot write {}", path.display()))?;
    file.flush().with_context(|| format!("cannot write {}", path.display()))?;
    let file = file
        .persist(path)
        .map_err(|failed| failed.error)
        .with_context(|| format!("cannot write {}", path.display()))?;
    set_usual_mode(&file);
    Ok(())
}

/// A temporary file is readable by its owner only; an output should be as readable as any other new file.
#[cfg(unix)]
fn set_usual_mode(file: &fs::File) {
    use std::os::unix::fs::PermissionsExt;
    // Failure leaves a stricter mode, which harms nothing.
    let _ = file.set_permissions(fs::Permissions::from_mode(0o644));
}

#[cfg(not(unix))]
fn set_usual_mode(_file: &fs::File) {}

/// Fills a directory under a temporary name, which it loses when everything is written. One that is there is filled through a
/// directory in it, so that it keeps its owner and rights and what is beside it need not be writable.
///
/// # Errors
/// When the directory exists and is not empty, cannot be created, or `fill` fails; then nothing is left behind.
pub fn write_directory<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    if path.is_dir() {
        let is_occupied = !names(path)?.is_empty();
        ensure!(!is_occupied, "cannot replace {}, it is not empty", path.display());
        return replace_directory(path, fill);
    }
    let directory = parent(path);
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let temporary = temporary_directory(directory)?;
    let result = fill(temporary.path())?;
    let written = temporary.keep();
    if let Err(error) = fs::rename(&written, path) {
        let _ = fs::remove_dir_all(&written);
        return Err(error).with_context(|| format!("cannot write {}", path.display()));
    }
    set_directory_mode(path);
    Ok(result)
}

/// Fills a directory in one that is there, and lets what it holds take the place of what the other holds.
///
/// # Errors
/// When the directory cannot be written to, or `fill` fails; then it holds what it did before.
pub fn replace_directory<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let temporary = temporary_directory(path)?;
    let (old, new) = (temporary.path().join("old"), temporary.path().join("new"));
    for directory in [&old, &new] {
        fs::create_dir(directory).with_context(|| format!("cannot create a directory in {}", path.display()))?;
    }
    let result = fill(&new)?;
    let moved = move_all(path, &old, &names(path)?).and_then(|()| {
        move_all(&new, path, &names(&new)?).inspect_err(|_| {
            // What was there before is put back as far as that is possible; the error is the first.
            let _ = names(&old).and_then(|names| move_all(&old, path, &names));
        })
    });
    moved.with_context(|| format!("cannot write {}", path.display()))?;
    temporary.close().with_context(|| format!("cannot remove what was in {} before", path.display()))?;
    Ok(result)
}

fn temporary_directory(directory: &Path) -> Result<TempDir> {
    let temporary = Builder::new().prefix(UNFINISHED).tempdir_in(directory);
    temporary.map_err(own_cause).with_context(|| format!("cannot create a directory in {}", directory.display()))
}

/// The names of what is in a directory, but for what is being written in it.
fn names(directory: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<OsString>>>()?;
    names.retain(|name| !is_unfinished(name));
    names.sort();
    Ok(names)
}

/// Moves entries of a directory into another; puts them back when one cannot be moved.
fn move_all(from: &Path, to: &Path, names: &[OsString]) -> Result<()> {
    for (place, name) in names.iter().enumerate() {
        if let Err(error) = fs::rename(from.join(name), to.join(name)) {
            for moved in names.iter().take(place) {
                let _ = fs::rename(to.join(moved), from.join(moved));
            }
            return Err(error.into());
        }
    }
    Ok(())
}

/// The error without the path of the temporary file, which means nothing to anybody.
fn own_cause(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((cause, _)) => io::Error::new(error.kind(), cause.to_owned()),
        None => error,
    }
}

#[cfg(unix)]
fn set_directory_mode(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
}

#[cfg(not(unix))]
fn set_directory_mode(_path: &Path) {}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn listed(directory: &Path) -> Vec<OsString> {
        let mut names: Vec<OsString> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    fn fill(directory: &Path) -> Result<()> {
        fs::create_dir(directory.join("part"))?;
        fs::write(directory.join("part/table"), "new")?;
        Ok(fs::write(directory.join("index"), "new")?)
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_is_there_is_filled_and_stays_the_same() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let place = tempfile::tempdir().unwrap();
        let (directory, link) = (place.path().join("out"), place.path().join("link"));
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o2770)).unwrap();
        symlink(&directory, &link).unwrap();
        let before = directory.metadata().unwrap();
        write_directory(&link, fill).unwrap();
        assert_eq!(listed(&directory), ["index", "part"]);
        fs::write(directory.join("old"), "").unwrap();
        assert!(write_directory(&directory, fill).is_err(), "it is not empty");
        replace_directory(&link, fill).unwrap();
        assert_eq!(listed(&directory), ["index", "part"]);
        let after = directory.metadata().unwrap();
        assert_eq!((before.ino(), before.mode()), (after.ino(), after.mode()));
        assert_eq!(listed(place.path()), ["link", "out"]);
    }

    #[test]
    fn what_fails_leaves_what_was_there() {
        let place = tempfile::tempdir().unwrap();
        let directory: PathBuf = place.path().join("out");
        write_directory(&directory, fill).unwrap();
        let fails = |directory: &Path| -> Result<()> {
            fs::write(directory.join("half"), "")?;
            anyhow::bail!("no more")
        };
        assert!(replace_directory(&directory, fails).is_err());
        assert!(write_directory(&place.path().join("other"), fails).is_err());
        assert_eq!(listed(&directory), ["index", "part"]);
        assert_eq!(listed(place.path()), ["out"]);
    }
}

//! Logs next to a database with changes that it lacks, and the copy of both in which SQLite applies them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use rusqlite::Connection;

use crate::common::temporary::TemporaryFolder;
use wavesieve_files::regular;

/// Endings of the write-ahead log and of the rollback journal.
const LOGS: &[&str] = &["-wal", "-journal"];
/// A log that is larger than this multiple of its database plus `LOG_BYTES` is another file, and it must not be copied.
const LOG_SHARE: u64 = 64;
const LOG_BYTES: u64 = 1 << 32;
/// Maximum number of copies of a database that is being written.
const ATTEMPTS: usize = 3;

/// A log next to the input, and the outcome of applying it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// `-wal` or `-journal`.
    pub ending: &'static str,
    /// The reason why its changes could not be applied, if they could not.
    pub failure: Option<String>,
}

/// Ending of the log with changes that the database lacks: a write-ahead log with content, or a rollback journal whose
/// header has not been cleared.
pub(crate) fn pending_log(path: &Path) -> Option<&'static str> {
    let path = target(path);
    LOGS.iter().copied().find(|ending| {
        let Ok(mut log) = regular::open(&sibling(&path, ending)) else { return false };
        let mut first = [0_u8];
        let filled = io::Read::read(&mut log, &mut first).is_ok_and(|read| read == 1);
        filled && (*ending == "-wal" || first != [0])
    })
}

/// SQLite looks for logs next to the target of a link.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn sibling(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A copy of a database and its logs.
///
/// # Errors
/// When it cannot be written, or the database is being written.
pub fn copied(path: &Path) -> Result<(TemporaryFolder, PathBuf)> {
    let source = target(path);
    let bytes = |ending: &str| fs::metadata(sibling(&source, ending)).map_or(0, |metadata| metadata.len());
    let most = bytes("").saturating_mul(LOG_SHARE).saturating_add(LOG_BYTES);
    if let Some(ending) = LOGS.iter().find(|ending| bytes(ending) > most) {
        bail!("the {ending} file next to {} is too large for this database; move it away", path.display());
    }
    for _ in 0..ATTEMPTS {
        let before = stamps(&source);
        let directory = TemporaryFolder::new()?;
        let copy = directory.path().join("copy.db");
        for ending in std::iter::once(&"").chain(LOGS) {
            copy_file(&sibling(&source, ending), &sibling(&copy, ending)).with_context(|| no_room(path))?;
        }
        if stamps(&source) == before {
            return Ok((directory, copy));
        }
    }
    bail!("{} is being written while it is read; wait until the profiler has finished", path.display())
}

fn no_room(path: &Path) -> String {
    let place = std::env::temp_dir();
    format!(
        "cannot copy {} and its log to {}; set TMPDIR to a directory with room for it",
        path.display(),
        place.display()
    )
}

/// Size and time of the last change of the database and its logs.
fn stamps(path: &Path) -> Vec<Option<(u64, Option<SystemTime>)>> {
    let stamp = |ending: &&str| {
        let metadata = fs::metadata(sibling(path, ending)).ok()?;
        Some((metadata.len(), metadata.modified().ok()))
    };
    std::iter::once(&"").chain(LOGS).map(stamp).collect()
}

/// Copies only the content: the copy must be writable even if the input is not. A missing file is not copied.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = match regular::open(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    io::copy(&mut source, &mut File::create(to)?).map(|_| ())
}

/// Lets SQLite apply the log to the copy, and remove the log.
pub fn settle(copy: &Path) -> Result<()> {
    let connection = Connection::open(copy)?;
    connection.execute_batch(include_str!("sql/settle.sql"))?;
    connection.close().map_err(|(_, error)| error)?;
    if LOGS.iter().any(|ending| sibling(copy, ending).exists()) {
        bail!("the log is still there");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_without_changes_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        assert_eq!(pending_log(&path), None);
        fs::write(sibling(&path, "-wal"), "").unwrap();
        fs::write(sibling(&path, "-journal"), [0_u8; 512]).unwrap();
        assert_eq!(pending_log(&path), None);
        fs::write(sibling(&path, "-journal"), [0xd9_u8; 512]).unwrap();
        assert_eq!(pending_log(&path), Some("-journal"));
        fs::write(sibling(&path, "-wal"), [0_u8; 32]).unwrap();
        assert_eq!(pending_log(&path), Some("-wal"));
    }
}

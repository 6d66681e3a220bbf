//! The database that is written: a temporary file next to its place, filled by SQLite without a journal.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tempfile::NamedTempFile;
use thiserror::Error;

use super::partition::Copied;
use super::structure::{SOURCE, Structure};
use crate::atomic::removed_at_interruption;
use crate::target::{Target, temporary_for};
use wavesieve_input::{AtInterruption, RocpdFile, read_only_uri};
use wavesieve_model::text::causes::with_causes;

/// Result of writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Captures.
    pub partitions: usize,
    /// Rows of all tables.
    pub rows: usize,
    /// Rows with a time.
    pub events: usize,
    /// Bytes of the file.
    pub bytes: u64,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Written {
    /// Counts a capture.
    pub(super) fn count(&mut self, copied: Copied) {
        self.partitions += 1;
        self.rows += copied.rows;
        self.events += copied.events;
    }

    /// Adds a note about tables that belong to no capture.
    pub(super) fn note_others(&mut self, file: &RocpdFile, structure: &Structure) {
        if !structure.other_tables.is_empty() {
            let names = structure.other_tables.join(", ");
            self.notes.push(format!("{}: tables of no capture are left out: {names}", file.shown()));
        }
    }

    /// Adds a note about views that cannot be read.
    pub(super) fn note_views(&mut self, unreadable: &[String]) {
        if !unreadable.is_empty() {
            let names = unreadable.join(", ");
            self.notes.push(format!("views that cannot be read are left out: {names}"));
        }
    }
}

/// An input that SQLite cannot read to its end: its path and the cause. Nothing of it is written.
#[derive(Debug, Error)]
#[error("{0}: {1}")]
pub struct DamagedSource(pub String, pub String);

fn is_damage(error: &anyhow::Error) -> bool {
    let code = error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    // The tables are declared as in the input: rows that do not fit them, or have an id twice, are damaged.
    let of_rows = [ErrorCode::ConstraintViolation, ErrorCode::TypeMismatch];
    code.is_some_and(|code| {
        matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) || of_rows.contains(&code)
    })
}

/// A database under a temporary name.
pub(crate) struct OutputDatabase {
    connection: Connection,
    file: NamedTempFile,
    place: PathBuf,
    shown: String,
    _removed: AtInterruption,
}

impl OutputDatabase {
    /// Creates an empty database next to its final place.
    pub fn create(path: &Path) -> Result<Self> {
        let Target::File(place) = Target::resolve(path)? else {
            bail!("{} cannot hold a database, which is written in pieces; name a file", path.display());
        };
        let file = temporary_for(&place, std::fs::metadata(&place).ok().as_ref())?;
        let removed = removed_at_interruption(file.path());
        let absolute = std::path::absolute(file.path()).context("the current directory is unknown")?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let shown = path.display().to_string();
        let connection =
            Connection::open_with_flags(absolute, flags).with_context(|| format!("cannot write {shown}"))?;
        connection
            .execute_batch(include_str!("sql/open_output.sql"))
            .with_context(|| format!("cannot write {shown}"))?;
        Ok(Self { connection, file, place, shown, _removed: removed })
    }

    /// SQLite with the output as `main`.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Runs `copy` in a transaction while an input is attached as `source`, which is never written.
    pub(super) fn with_source<T>(&self, file: &RocpdFile, copy: impl FnOnce() -> Result<T>) -> Result<T> {
        let uri = read_only_uri(file.file.path())?;
        let attached = self.connection.execute(&format!("ATTACH ?1 AS {SOURCE}"), [uri]);
        let attached = attached.context("cannot be opened as a SQLite database").map(drop);
        let begun = attached.and_then(|()| {
            Ok(self.connection.execute_batch(&format!("PRAGMA {SOURCE}.mmap_size = 1073741824; BEGIN"))?)
        });
        let copied = match begun.and_then(|()| copy()) {
            Ok(copied) => copied,
            Err(error) if is_damage(&error) => return Err(DamagedSource(file.shown(), with_causes(&error)).into()),
            Err(error) => return Err(error.context(format!("cannot copy {} to {}", file.shown(), self.shown))),
        };
        self.connection.execute_batch("COMMIT").with_context(|| format!("cannot write {}", self.shown))?;
        self.connection.execute_batch(&format!("DETACH {SOURCE}"))?;
        Ok(copied)
    }

    /// Renames the database to its final name, and returns its size.
    pub fn finish(self) -> Result<u64> {
        let failed = || format!("cannot write {}", self.shown);
        self.connection.close().map_err(|(_, error)| error).with_context(failed)?;
        let bytes = self.file.as_file().metadata().with_context(failed)?.len();
        self.file.persist(&self.place).map_err(|error| error.error).with_context(failed)?;
        Ok(bytes)
    }
}

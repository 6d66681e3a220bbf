//! Folders for copies of inputs that other libraries read by name. They are removed when their last reader is done, and when the program is
//! interrupted. If a program was killed, the next program removes its folders.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::interruption::AtInterruption;
use super::left_over::{hold, sweep};

/// Start of the names of folders in TMPDIR.
const START: &str = "wavesieve-copies-";

/// A folder in TMPDIR.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: TempDir,
    _removed: AtInterruption,
    /// Its lock, which shows other processes that it is in use.
    _held: Option<File>,
}

impl TemporaryFolder {
    /// An empty folder.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn new() -> Result<Self> {
        sweep(&std::env::temp_dir(), START);
        let folder = tempfile::Builder::new().prefix(START).tempdir();
        let folder = folder.context("cannot create a temporary directory; set TMPDIR to another place")?;
        let (path, held) = (folder.path().to_owned(), hold(folder.path()));
        let removed = AtInterruption::new(move || drop(std::fs::remove_dir_all(path)));
        Ok(Self { folder, _removed: removed, _held: held })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_with_its_last_reader() {
        let folder = TemporaryFolder::new().unwrap();
        let path = folder.path().to_owned();
        assert!(path.is_dir());
        drop(folder);
        assert!(!path.exists());
    }
}

//! Folders for copies of inputs that other libraries read by name. They are removed when nobody reads them any more, and
//! when the program is interrupted.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tempfile::TempDir;

/// Folders that are in use.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static WATCH: Once = Once::new();

/// A folder in TMPDIR.
#[derive(Debug)]
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// An empty folder.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn new() -> Result<Self> {
        WATCH.call_once(watch);
        let folder = tempfile::Builder::new().prefix("wavesieve-").tempdir();
        let folder = folder.context("cannot create a temporary directory; set TMPDIR to another place")?;
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder.path().to_owned());
        Ok(Self(folder))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let own = self.0.path();
        FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).retain(|folder| folder != own);
    }
}

/// Removes all folders at a signal that ends the program, and ends it then. Without the watch, which nothing else needs,
/// an interrupted program leaves them.
fn watch() {
    if let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                for folder in FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
                    let _ = std::fs::remove_dir_all(folder);
                }
                let _ = emulate_default_handler(signal);
            }
        });
    }
}

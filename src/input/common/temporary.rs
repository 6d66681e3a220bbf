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
/// an interrupted program leaves them. A signal that the program was started to ignore, as under `nohup`, stays so.
fn watch() {
    let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored_signals(&status));
    let ends = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    if let Ok(mut signals) = Signals::new(ends) {
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

/// A bit for every signal that is ignored, by what the system says of a process.
fn ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_removed_and_forgotten() {
        let folder = TemporaryFolder::new().unwrap();
        let path = folder.path().to_owned();
        assert!(path.is_dir() && FOLDERS.lock().unwrap().contains(&path));
        drop(folder);
        assert!(!path.exists() && !FOLDERS.lock().unwrap().contains(&path));
    }

    #[test]
    fn signals_that_are_ignored() {
        assert_eq!(ignored_signals("Name:\tx\nSigIgn:\t0000000000001003\nSigCgt:\tff\n"), 0x1003);
        assert_eq!(ignored_signals(""), 0);
    }
}

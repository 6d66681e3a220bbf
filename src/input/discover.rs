//! From files, directories and patterns to candidate files, in a fixed order and without duplicates.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::dataset::is_dataset;
use super::error::InputError;
use crate::trace::natural_order::natural_key;

/// A file or dataset directory to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Where it is.
    pub path: PathBuf,
    /// Whether the user named it, or it was found in a directory.
    pub named: bool,
}

/// Begin of the names of files and directories that are being written.
pub const UNFINISHED: &str = ".wavesieve-";

/// Whether a file or directory of this name is being written, or was when its writer was ended.
pub fn is_unfinished(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with(UNFINISHED)
}

/// Finds the candidates of all inputs. A directory is searched recursively; a dataset is one candidate. The directory
/// `exclude` is left out where it is found and not named, as are outputs that are being written.
///
/// # Errors
/// [`InputError::NoSuchFile`] for an input that matches nothing.
pub fn discover(inputs: &[String], exclude: Option<&Path>) -> Result<Vec<Candidate>, InputError> {
    let mut candidates = Vec::new();
    let exclude = exclude.and_then(|path| path.canonicalize().ok());
    for path in named(inputs)? {
        collect(&path, true, exclude.as_deref(), &mut candidates)?;
    }
    let mut seen = BTreeSet::new();
    candidates.sort_by_cached_key(|candidate| (natural_key(&candidate.path.to_string_lossy()), !candidate.named));
    candidates
        .retain(|candidate| seen.insert(fs::canonicalize(&candidate.path).unwrap_or_else(|_| candidate.path.clone())));
    Ok(candidates)
}

/// The files and directories that inputs name: themselves, or what matches them as patterns.
///
/// # Errors
/// [`InputError::NoSuchFile`] for an input that matches nothing.
pub fn named(inputs: &[String]) -> Result<Vec<PathBuf>, InputError> {
    let mut paths = Vec::new();
    for input in inputs {
        let nothing = || InputError::NoSuchFile { path: input.clone() };
        if Path::new(input).exists() {
            paths.push(PathBuf::from(input));
            continue;
        }
        let matches: Vec<PathBuf> = glob::glob(input).map_err(|_| nothing())?.flatten().collect();
        if matches.is_empty() {
            return Err(nothing());
        }
        paths.extend(matches);
    }
    Ok(paths)
}

fn collect(path: &Path, named: bool, exclude: Option<&Path>, candidates: &mut Vec<Candidate>) -> Result<()> {
    if !path.is_dir() || is_dataset(path) {
        candidates.push(Candidate { path: path.to_owned(), named });
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot list the directory {}", path.display()))?;
    let mut entries: Vec<PathBuf> =
        entries.collect::<Result<Vec<_>, _>>()?.into_iter().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        // A link to a directory could lead back up; links to files are common on clusters.
        if entry.is_symlink() && entry.is_dir() {
            continue;
        }
        let unfinished = entry.file_name().is_some_and(is_unfinished);
        let excluded =
            || exclude.is_some_and(|exclude| entry.is_dir() && entry.canonicalize().is_ok_and(|at| at == exclude));
        if unfinished || excluded() {
            continue;
        }
        collect(&entry, false, exclude, candidates)?;
    }
    Ok(())
}

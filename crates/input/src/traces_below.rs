//! The traces of a directory, without reading them.

use std::path::{Path, PathBuf};

use super::common::sqlite::Reader;
use super::recognition::discover::discover;
use super::recognition::format::Recognized;
use super::recognition::formats::recognize;

/// The files and datasets in a directory and below it that are traces by their content, sorted; empty if the directory cannot be listed.
pub fn traces_below(directory: &Path) -> Vec<PathBuf> {
    let candidates = discover(&[directory.to_string_lossy().into_owned()], None).unwrap_or_default();
    let readable = candidates.into_iter().filter(|candidate| candidate.problem.is_none());
    readable
        .map(|candidate| candidate.path)
        .filter(|path| matches!(recognize(path, Reader::Auto).1, Recognized::Capture(_) | Recognized::Part))
        .collect()
}

//! The thread traces of a directory.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::is_named_like_statistics;
use crate::common::sqlite::Reader;
use crate::recognition::content::Content;
use crate::recognition::discover::discover;
use crate::recognition::head::Head;
use wavesieve_model::text::bytes::text_of_name;

/// Returns the files with instruction statistics in a directory and below it, together with paths that cannot be inspected, in their order.
/// The second list has files that are only named like them. Other traces in the directory are left out.
///
/// # Errors
/// When a directory cannot be listed.
pub fn thread_traces_below(directory: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for candidate in discover(&[directory.to_string_lossy().into_owned()], None)? {
        if candidate.problem.is_some() {
            found.push(candidate.path);
            continue;
        }
        let name = text_of_name(candidate.path.file_name().unwrap_or_default());
        if !(name.ends_with(".csv") || name.ends_with(".csv.gz")) {
            continue;
        }
        match Content::detect(&candidate.path, Reader::Auto) {
            Content::Head(Head::AttStatistics) => found.push(candidate.path),
            _ if is_named_like_statistics(&name) => unread.push(candidate.path),
            _ => {}
        }
    }
    Ok((found, unread))
}

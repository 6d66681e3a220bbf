//! Reads files of commits.

#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;

use super::error::GitError;
use super::references::object_id;
use super::repository::{Repository, path_of};

/// A file, link or submodule in the tree of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub mode: String,
    pub id: String,
    pub path: PathBuf,
}

impl Repository {
    /// The bytes of a file in a commit, by its path relative to [`Repository::root`]; `None` if the file does not
    /// exist.
    ///
    /// # Errors
    /// When the commit does not exist, or the path is not a file.
    #[cfg(test)]
    pub fn contents(&self, commit: &str, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        let call =
            self.git("read the files of a commit").args(["ls-tree", "-z", "--full-tree", object_id(commit)?, "--"]);
        let found = parsed(&call.args([path]).run()?)?.into_iter().find(|entry| entry.path == path);
        let Some(entry) = found else { return Ok(None) };
        if !entry.mode.starts_with("100") {
            return Err(GitError::file(path, "it is not a regular file in the commit"));
        }
        self.git("read a file of a commit").args(["cat-file", "blob", &entry.id]).run().map(Some)
    }

    pub(super) fn tree(&self, commit: &str) -> Result<Vec<TreeEntry>, GitError> {
        let words = ["ls-tree", "-r", "-z", "--full-tree", object_id(commit)?];
        parsed(&self.git("read the files of a commit").args(words).run()?)
    }
}

/// Parses the output of `ls-tree -z`.
fn parsed(bytes: &[u8]) -> Result<Vec<TreeEntry>, GitError> {
    let failed = || GitError::failed("read the files of a commit", "git printed something unknown");
    let lines = bytes.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let tab = line.iter().position(|byte| *byte == b'\t').ok_or_else(failed)?;
            let (facts, path) = line.split_at_checked(tab).ok_or_else(failed)?;
            let path = path_of(path.strip_prefix(b"\t").unwrap_or(path));
            match String::from_utf8_lossy(facts).split(' ').collect::<Vec<_>>().as_slice() {
                [mode, _, id] => Ok(TreeEntry { mode: (*mode).to_owned(), id: (*id).to_owned(), path }),
                _ => Err(failed()),
            }
        })
        .collect()
}

//! A git work tree.

use std::path::{Path, PathBuf};

use super::error::{GitError, NoRepository};

/// The work tree of a git repository.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    root: PathBuf,
}

/// What was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Saved {
    pub commit: String,
    pub reference: String,
}

/// A reference to a saved state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub session: String,
    pub id: u64,
    pub commit: String,
    pub subject: String,
}

impl Repository {
    pub(crate) fn open(_source: &Path) -> Result<Self, NoRepository> {
        Err(NoRepository::NotAWorkTree)
    }
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
    pub(crate) fn head(&self) -> Result<String, GitError> {
        Ok(String::new())
    }
    pub(crate) fn save(
        &self,
        _session: &str,
        _id: u64,
        _parent: Option<&str>,
        _files: &[PathBuf],
        _summary: &str,
    ) -> Result<Saved, GitError> {
        Ok(Saved { commit: String::new(), reference: String::new() })
    }
    pub(crate) fn contents(&self, _commit: &str, _path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        Ok(None)
    }
    pub(crate) fn list(&self) -> Result<Vec<Checkpoint>, GitError> {
        Ok(Vec::new())
    }
    pub(crate) fn remove(&self, _session: &str) -> Result<usize, GitError> {
        Ok(0)
    }
    pub(crate) fn highest(&self, _session: &str) -> Result<Option<u64>, GitError> {
        Ok(None)
    }
    pub(crate) fn export(&self, _commit: &str, _folder: &Path) -> Result<usize, GitError> {
        Ok(0)
    }
}

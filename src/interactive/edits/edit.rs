//! What an edit is.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::EditError;

/// A file before and after an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileEdit {
    /// Relative to the root.
    pub path: PathBuf,
    /// The whole text; none if the file is not there.
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A change of files below a root, all of them or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    pub files: Vec<FileEdit>,
}

/// Where the files of an edit stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EditState {
    /// All are as before the edit.
    Before,
    /// All are as after it.
    After,
    /// This one is neither, or it is one and another file is the other.
    Neither(PathBuf),
}

impl Edit {
    pub(crate) fn from_answer(root: &Path, _answer: &str, _allowed: &[PathBuf]) -> Result<Self, EditError> {
        Err(EditError::Root { root: root.to_owned(), reason: "not yet".to_owned() })
    }
    pub(crate) fn from_patch(root: &Path, _patch: &str) -> Result<Self, EditError> {
        Err(EditError::Root { root: root.to_owned(), reason: "not yet".to_owned() })
    }
    pub(crate) fn from_editor(_root: &Path, _before: &[(PathBuf, Option<String>)]) -> Result<Option<Self>, EditError> {
        Ok(None)
    }
    pub(crate) fn state(&self, _root: &Path) -> Result<EditState, EditError> {
        Ok(EditState::Before)
    }
    pub(crate) fn apply(&self, _root: &Path) -> Result<(), EditError> {
        Ok(())
    }
    pub(crate) fn revert(&self, _root: &Path) -> Result<(), EditError> {
        Ok(())
    }
    pub(crate) fn undo_partly(&self, _root: &Path) -> Result<(), EditError> {
        Ok(())
    }
    pub(crate) fn diff(&self) -> String {
        String::new()
    }
    pub(crate) fn summary(&self) -> String {
        String::new()
    }
}

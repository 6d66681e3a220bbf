//! Edits of files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEdit {
    /// Relative to the root, without links.
    pub path: PathBuf,
    /// The whole text; `None` if the file does not exist.
    pub before: Option<String>,
    pub after: Option<String>,
    /// Permissions of a file that the edit creates or deletes, if they differ from those of a new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Number of folders above a new file that are created with it. They are removed with it if they are empty
    /// otherwise.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folders: usize,
}

/// A change of files below a root: of all files or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub files: Vec<FileEdit>,
}

/// The state of the files of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditState {
    Before,
    After,
    /// This file is neither before nor after; or the edit is partly applied, and this is the first file that differs
    /// from the files before it.
    Neither(PathBuf),
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

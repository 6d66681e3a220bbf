//! Edits of files.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEdit {
    /// Relative to the root, and without links.
    pub path: PathBuf,
    /// The whole text; none if the file is not there.
    pub before: Option<String>,
    pub after: Option<String>,
    /// Permissions of a file that the edit creates or deletes, if they are not those of any new file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Folders above a new file that are created with it, and removed with it if nothing else is in them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folders: usize,
}

/// A change of files below a root: of all of them or of none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub files: Vec<FileEdit>,
}

/// Where the files of an edit stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditState {
    Before,
    After,
    /// This one is neither; or the edit is applied in part, and this is the first file that differs from those before it.
    Neither(PathBuf),
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

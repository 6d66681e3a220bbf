//! An edit under construction.

use std::path::{Path, PathBuf};

use super::edit::{Edit, FileEdit};
use super::error::EditError;
use super::root::{MOST_BYTES, Root, mode_of};

/// Files with their new texts, in the order in which they were first named.
pub(super) struct Draft<'a> {
    root: &'a Root,
    files: Vec<FileEdit>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(root: &'a Root) -> Self {
        Self { root, files: Vec::new() }
    }

    /// The file of a resolved path, after the changes so far.
    pub(super) fn file(&mut self, path: &Path) -> Result<&mut FileEdit, EditError> {
        let place = match self.files.iter().position(|file| file.path == path) {
            Some(place) => place,
            None => {
                let text = self.root.read(path)?;
                self.push(path.to_owned(), text.clone(), text);
                self.files.len() - 1
            }
        };
        self.files.get_mut(place).ok_or(EditError::NothingChanges)
    }

    /// Returns whether the file of a resolved path was named.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.files.iter().any(|file| file.path == path)
    }

    /// Adds a file with known texts.
    pub(super) fn push(&mut self, path: PathBuf, before: Option<String>, after: Option<String>) {
        self.files.push(FileEdit { path, before, after, ..FileEdit::default() });
    }

    /// Returns the edit; `None` if nothing differs.
    pub(super) fn finish(self) -> Result<Option<Edit>, EditError> {
        let mut files = self.files;
        files.retain(|file| file.before != file.after);
        for file in &mut files {
            if file.after.as_ref().is_some_and(|text| text.len() as u64 > MOST_BYTES) {
                return Err(EditError::not_editable(&file.path, "it would be larger than 4 MiB"));
            }
            if file.after.as_ref().is_some_and(|text| text.contains('\0')) {
                return Err(EditError::not_editable(&file.path, "it would not be text any more"));
            }
            match (&file.before, &file.after) {
                (None, _) => file.folders = self.root.missing_folders(&file.path),
                (_, None) => file.mode = self.root.metadata(&file.path)?.as_ref().map(mode_of),
                _ => file.mode = None,
            }
        }
        Ok((!files.is_empty()).then_some(Edit { files }))
    }
}

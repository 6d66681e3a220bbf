//! Edits from the user's editor.

use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::edit::Edit;
use super::error::EditError;
use super::root::Root;

impl Edit {
    /// The changes of an editor, from the earlier texts and the present files; `None` if nothing changed. The edit is
    /// applied already.
    pub(crate) fn from_editor(root: &Path, before: &[(PathBuf, Option<String>)]) -> Result<Option<Self>, EditError> {
        let root = Root::open(root)?;
        let mut draft = Draft::new(&root);
        for (path, before) in before {
            let path = root.resolve(path)?;
            let after = root.read(&path)?;
            draft.push(path, before.clone(), after);
        }
        draft.finish()
    }
}

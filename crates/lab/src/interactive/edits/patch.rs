//! Edits from a patch of the user.

use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::edit::Edit;
use super::error::{EditError, shown};
use super::hunks::{Hunk, patched};
use super::patch_parser::{FilePatch, PatchParser};
use super::root::{Root, mode_of};

impl Edit {
    /// Parses a unified diff from git or another program. Every hunk must fit exactly: at the position of its header,
    /// or otherwise in only one place. Paths may start above the root. Files may be created, deleted and renamed.
    pub(crate) fn from_patch(root: &Path, patch: &str) -> Result<Self, EditError> {
        let root = Root::open(root)?;
        let files = PatchParser::new(patch).files()?;
        if files.is_empty() {
            return Err(EditError::NoPatch);
        }
        let (mut draft, mut modes) = (Draft::new(&root), Vec::new());
        for file in files {
            modes.extend(change(&root, &mut draft, file)?);
        }
        let mut edit = draft.finish()?.ok_or(EditError::NothingChanges)?;
        for (path, mode) in modes {
            for file in edit.files.iter_mut().filter(|file| file.path == path && file.before.is_none()) {
                file.mode = Some(mode);
            }
        }
        Ok(edit)
    }
}

/// Applies a patch to a file; returns the path and mode of a new file whose permissions differ from the default.
fn change(root: &Root, draft: &mut Draft<'_>, file: FilePatch) -> Result<Option<(PathBuf, u32)>, EditError> {
    let FilePatch { old, new, is_deleted_if_empty, is_from_git, is_renamed, mut mode, hunks } = file;
    match (old, new) {
        (None, None) => Err(EditError::NoPatch),
        (None, Some(new)) => {
            let path = new_place(root, &new)?;
            create(draft, &path, "", hunks)?;
            Ok(mode.map(|mode| (path, mode)))
        }
        (Some(old), None) => {
            let path = place(root, draft, &old, &old, is_from_git)?;
            delete(draft, &path, hunks)?;
            Ok(None)
        }
        (Some(old), Some(new)) if is_renamed => {
            let from = place(root, draft, &old, &old, true)?;
            let to = new_place(root, &new)?;
            let metadata = root.metadata(&from)?;
            mode = metadata.as_ref().map(mode_of).filter(|mode| mode & 0o111 != 0);
            let text = draft.file(&from)?.after.take().unwrap_or_default();
            create(draft, &to, &text, hunks)?;
            Ok(mode.map(|mode| (to, mode)))
        }
        (Some(old), Some(new)) => {
            let path = match place(root, draft, &new, &old, is_from_git) {
                // Plain diffs of new files have a name on both sides.
                Err(EditError::MissingForPatch { .. }) if !is_from_git && is_creation(&hunks) => {
                    let path = new_place(root, &new)?;
                    create(draft, &path, "", hunks)?;
                    return Ok(None);
                }
                path => path?,
            };
            let file = draft.file(&path)?;
            let text = file.after.as_deref().ok_or_else(|| EditError::MissingForPatch { path: shown(&path) })?;
            let text = patched(text, hunks).map_err(|failed| hunk_error(&path, failed))?;
            file.after = (!text.is_empty() || !is_deleted_if_empty).then_some(text);
            Ok(None)
        }
    }
}

fn create(draft: &mut Draft<'_>, path: &Path, text: &str, hunks: Vec<Hunk>) -> Result<(), EditError> {
    let file = draft.file(path)?;
    if file.after.is_some() {
        return Err(EditError::Exists { path: shown(path) });
    }
    file.after = Some(patched(text, hunks).map_err(|failed| hunk_error(path, failed))?);
    Ok(())
}

fn delete(draft: &mut Draft<'_>, path: &Path, hunks: Vec<Hunk>) -> Result<(), EditError> {
    let file = draft.file(path)?;
    let last = hunks.len();
    let text = file.after.take().ok_or_else(|| EditError::MissingForPatch { path: shown(path) })?;
    let rest = patched(&text, hunks).map_err(|failed| hunk_error(path, failed))?;
    if rest.is_empty() {
        Ok(())
    } else {
        Err(hunk_error(path, (last, "deletes the file, which has more lines".to_owned())))
    }
}

fn hunk_error(path: &Path, (hunk, reason): (usize, String)) -> EditError {
    EditError::Hunk { path: shown(path), hunk, reason }
}

fn is_creation(hunks: &[Hunk]) -> bool {
    matches!(hunks, [hunk] if hunk.old.is_empty() && hunk.start == 0)
}

/// The file that a patch means by two names: the names as they are, without the folders that lead to the root, or, for
/// diffs of two folders, without the first folder.
fn place(root: &Root, draft: &mut Draft<'_>, new: &str, old: &str, is_from_git: bool) -> Result<PathBuf, EditError> {
    for name in [new, old] {
        let short = name.split_once('/').map(|(_, rest)| rest).filter(|_| !is_from_git);
        for candidate in candidates(root, name).into_iter().chain(short) {
            if let Ok(path) = root.resolve(Path::new(candidate))
                && (root.metadata(&path)?.is_some() || draft.has(&path))
            {
                return Ok(path);
            }
        }
    }
    root.resolve(Path::new(new)).and_then(|path| Err(EditError::MissingForPatch { path: shown(&path) }))
}

/// The path of a new file: as named, or without the folders that lead to the root if the first of them is not in it.
fn new_place(root: &Root, name: &str) -> Result<PathBuf, EditError> {
    let is_here = |name: &str| name.split_once('/').is_none_or(|(first, _)| root.at(Path::new(first)).is_dir());
    let names = candidates(root, name);
    let chosen = names.iter().find(|_| is_here(name)).or_else(|| names.get(1)).unwrap_or(&name);
    root.resolve(Path::new(chosen))
}

/// The name, and its rests without leading folders that contain the root.
fn candidates<'a>(root: &Root, name: &'a str) -> Vec<&'a str> {
    let ends = name.match_indices('/').filter_map(|(at, _)| name.split_at_checked(at));
    let inside = ends.filter(|(above, _)| !above.is_empty() && root.ends_with(Path::new(above)));
    std::iter::once(name).chain(inside.map(|(_, rest)| rest.trim_start_matches('/'))).collect()
}

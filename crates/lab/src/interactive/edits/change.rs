//! Applies and reverts edits: all files or none.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::edit::{Edit, EditState, FileEdit};
use super::error::{EditError, shown};
use super::root::Root;
use super::staged::{FileStep, Staged};
use wavesieve_export::atomic::MadeDirectories;
use wavesieve_export::target::parent;
use wavesieve_input::UNFINISHED;

impl Edit {
    /// Returns the state of the files. A file that can no longer be edited, because it is not text now, is neither
    /// before nor after.
    ///
    /// # Errors
    /// When a file cannot be read, or its path now leads elsewhere.
    pub fn state(&self, root: &Path) -> Result<EditState, EditError> {
        let root = Root::open(root)?;
        let mut first = None;
        for file in &self.files {
            let neither = || Ok(EditState::Neither(file.path.clone()));
            let text = match root.resolve(&file.path).and_then(|_| root.read(&file.path)) {
                Err(EditError::NotEditable { .. }) => return neither(),
                text => text?,
            };
            let state = match () {
                () if text == file.before => EditState::Before,
                () if text == file.after => EditState::After,
                () => return neither(),
            };
            if first.get_or_insert_with(|| state.clone()) != &state {
                return neither();
            }
        }
        Ok(first.unwrap_or(EditState::Before))
    }

    /// Changes all files or none. Permissions are kept.
    ///
    /// # Errors
    /// When a file differs from its state before the edit, or cannot be written. Then nothing is changed, and nothing
    /// is left behind.
    pub fn apply(&self, root: &Path) -> Result<(), EditError> {
        let steps =
            self.files.iter().map(|file| FileStep { file, from: file.before.as_deref(), to: file.after.as_deref() });
        self.change(&Root::open(root)?, &steps.collect::<Vec<_>>())
    }

    /// Restores all files, or none.
    pub(crate) fn revert(&self, root: &Path) -> Result<(), EditError> {
        let root = Root::open(root)?;
        self.change(&root, &self.files.iter().map(back).collect::<Vec<_>>())?;
        self.remove_folders(&root);
        Ok(())
    }

    /// Reverts the work of a killed process: files in the state before the edit stay, files in the state after it are
    /// restored, and unfinished files and folders are removed.
    pub(crate) fn undo_partly(&self, root: &Path) -> Result<(), EditError> {
        let root = Root::open(root)?;
        let mut steps = Vec::new();
        for file in &self.files {
            root.resolve(&file.path)?;
            if root.read(&file.path).ok().is_none_or(|text| text != file.before) {
                steps.push(back(file));
            }
        }
        self.change(&root, &steps)?;
        self.remove_folders(&root);
        Ok(())
    }

    fn change(&self, root: &Root, steps: &[FileStep<'_>]) -> Result<(), EditError> {
        steps.iter().try_for_each(|step| step.check(root))?;
        let prefix = self.prefix();
        self.remove_unfinished(root, &prefix);
        let mut made = Vec::new();
        let changed = put_all(root, steps, &prefix, &mut made);
        // The innermost first; folders with files in them stay.
        while made.pop().is_some() {}
        changed
    }

    /// The prefix of the names of unfinished files. It is the same for the same edit, so that only its own files are
    /// removed.
    pub(super) fn prefix(&self) -> String {
        let mut hash = Xxh3::new();
        for file in &self.files {
            for part in [file.path.to_str(), file.before.as_deref(), file.after.as_deref()] {
                hash.update(part.unwrap_or("\u{1}").as_bytes());
                hash.update(&[0]);
            }
        }
        format!("{UNFINISHED}edit-{:016x}-", hash.digest())
    }

    /// Removes files that a killed process left next to the edited ones.
    fn remove_unfinished(&self, root: &Root, prefix: &str) {
        let places = self.files.iter().map(|file| root.at(&file.path));
        for folder in places.map(|place| parent(&place).to_owned()).collect::<BTreeSet<_>>() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            let unfinished = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
            unfinished.for_each(|entry| drop(fs::remove_file(entry.path())));
        }
    }

    /// Removes folders that were created for new files, if nothing else is in them.
    fn remove_folders(&self, root: &Root) {
        self.remove_unfinished(root, &self.prefix());
        for file in self.files.iter().filter(|file| file.before.is_none()) {
            for folder in file.path.ancestors().skip(1).take(file.folders) {
                // Only an empty folder is removed.
                let _ = fs::remove_dir(root.at(folder));
            }
        }
    }
}

fn back(file: &FileEdit) -> FileStep<'_> {
    FileStep { file, from: file.after.as_deref(), to: file.before.as_deref() }
}

fn put_all(
    root: &Root,
    steps: &[FileStep<'_>],
    prefix: &str,
    made: &mut Vec<MadeDirectories>,
) -> Result<(), EditError> {
    let is_alone = steps.len() == 1;
    let staged = steps.iter().map(|step| Staged::new(root, *step, prefix, is_alone, made));
    let staged = staged.collect::<Result<Vec<_>, EditError>>()?;
    let mut done = Vec::new();
    for mut step in staged {
        if let Err(error) = step.put(root) {
            return Err(take_back(root, done, error));
        }
        done.push(step);
    }
    Ok(())
}

/// Reverts finished steps, the last first, because of an error; returns the error.
fn take_back(root: &Root, done: Vec<Staged<'_>>, cause: EditError) -> EditError {
    let (mut files, mut reason) = (Vec::new(), None);
    for step in done.into_iter().rev() {
        let path = shown(step.path());
        if let Err(error) = step.put_back(root) {
            files.push(path);
            reason.get_or_insert(error.to_string());
        }
    }
    match reason {
        None => cause,
        Some(reason) => EditError::Stuck { cause: Box::new(cause), files: files.join(", "), reason },
    }
}

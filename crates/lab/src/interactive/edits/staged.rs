//! Files that are written next to the files that they replace, so that only the final rename is visible.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::edit::FileEdit;
use super::error::{EditError, shown};
use super::root::Root;
use wavesieve_export::atomic::{MadeDirectories, make_directory, removed_at_interruption};
use wavesieve_export::target::{as_others, keep_owner, own_cause, parent};
use wavesieve_input::AtInterruption;

#[derive(Clone, Copy)]
pub(super) struct FileStep<'a> {
    pub file: &'a FileEdit,
    pub from: Option<&'a str>,
    pub to: Option<&'a str>,
}

/// A prepared step. Nothing of it is visible yet.
pub(super) struct Staged<'a> {
    step: FileStep<'a>,
    place: PathBuf,
    new: Option<Temporary>,
    /// The present file, kept in case a later step fails.
    old: Option<Temporary>,
}

struct Temporary {
    file: NamedTempFile,
    _removed: AtInterruption,
}

impl FileStep<'_> {
    /// Rejects a file that differs from the expected state, or must not be written.
    pub(super) fn check(&self, root: &Root) -> Result<(), EditError> {
        let path = &self.file.path;
        if root.resolve(path)? != *path {
            return Err(EditError::path(path, "a link leads elsewhere"));
        }
        self.check_text(root)?;
        if self.from.is_some() {
            let opened = OpenOptions::new().write(true).open(root.at(path));
            opened.map_err(|error| EditError::write(path, &error))?;
        }
        Ok(())
    }

    fn check_text(&self, root: &Root) -> Result<(), EditError> {
        let path = &self.file.path;
        let is_same = match root.read(path) {
            Ok(text) => text.as_deref() == self.from,
            Err(EditError::NotEditable { .. }) => false,
            Err(error) => return Err(error),
        };
        if is_same { Ok(()) } else { Err(EditError::Changed { path: shown(path) }) }
    }
}

impl<'a> Staged<'a> {
    /// Writes the files of a step under names that start with `prefix`. `is_alone` means that no other step can fail.
    /// Created folders are added to `made`.
    pub(super) fn new(
        root: &Root,
        step: FileStep<'a>,
        prefix: &str,
        is_alone: bool,
        made: &mut Vec<MadeDirectories>,
    ) -> Result<Self, EditError> {
        let (path, place) = (&step.file.path, root.at(&step.file.path));
        let before = root.metadata(path)?;
        if before.is_none() && step.to.is_some() {
            let failed =
                |error: anyhow::Error| EditError::Write { path: shown(path), reason: error.root_cause().to_string() };
            made.push(make_directory(parent(&place)).map_err(failed)?);
        }
        let write = |text| Temporary::new(&place, path, text, before.as_ref(), step.file, prefix);
        let new = step.to.map(write).transpose()?;
        let old = step.from.filter(|_| !is_alone).map(write).transpose()?;
        Ok(Self { step, place, new, old })
    }

    /// Performs the step, if the file is unchanged.
    pub(super) fn put(&mut self, root: &Root) -> Result<(), EditError> {
        self.step.check_text(root)?;
        let failed = |error| EditError::write(&self.step.file.path, &error);
        match self.new.take() {
            Some(new) if self.step.from.is_some() => {
                drop(new.file.persist(&self.place).map_err(|error| failed(error.error))?)
            }
            // Another program may have created it meanwhile.
            Some(new) => match new.file.persist_noclobber(&self.place) {
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                    return Err(EditError::Changed { path: shown(&self.step.file.path) });
                }
                persisted => drop(persisted.map_err(|error| failed(error.error))?),
            },
            None => fs::remove_file(&self.place).map_err(failed)?,
        }
        Ok(())
    }

    pub(super) fn put_back(self, root: &Root) -> Result<(), EditError> {
        let back = FileStep { file: self.step.file, from: self.step.to, to: self.step.from };
        Self { step: back, place: self.place, new: self.old, old: None }.put(root)
    }

    pub(super) fn path(&self) -> &Path {
        &self.step.file.path
    }
}

impl Temporary {
    /// Writes a text to a file next to `place`. It gets the permissions of the existing file, or those that the edit
    /// knows.
    fn new(
        place: &Path,
        path: &Path,
        text: &str,
        before: Option<&Metadata>,
        edit: &FileEdit,
        prefix: &str,
    ) -> Result<Self, EditError> {
        let failed = |error| EditError::write(path, &own_cause(error));
        let mut builder = Builder::new();
        builder.prefix(prefix);
        if before.is_none() {
            as_others(&mut builder, edit.mode.filter(|_| edit.before.is_none()).unwrap_or(0o666));
        }
        let folder = parent(place);
        let file = builder.tempfile_in(folder).map_err(|error| {
            let folder_of =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).map_or_else(|| shown(folder), shown);
            EditError::Write {
                path: shown(path),
                reason: format!("no file can be created in {folder_of}: {}", own_cause(error)),
            }
        })?;
        let removed = removed_at_interruption(file.path());
        let mut temporary = Self { file, _removed: removed };
        match (before, edit.mode) {
            (Some(before), _) => keep_owner(temporary.file.as_file(), before).map_err(failed)?,
            // A file that the edit deleted gets its permissions back.
            (None, Some(mode)) if edit.before.is_some() => set_mode(&temporary.file, mode).map_err(failed)?,
            _ => {}
        }
        temporary.file.write_all(text.as_bytes()).map_err(failed)?;
        temporary.file.as_file().sync_all().map_err(failed)?;
        Ok(temporary)
    }
}

fn set_mode(file: &NamedTempFile, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file().set_permissions(fs::Permissions::from_mode(mode))
}

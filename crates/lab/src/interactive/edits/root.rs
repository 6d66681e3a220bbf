//! The folder of the files to edit. Nothing outside it is edited.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::error::{EditError, shown};
use wavesieve_files::regular;

/// Maximum bytes of a file to edit.
pub(super) const MOST_BYTES: u64 = 4 << 20;

/// The folder, with links resolved.
pub(super) struct Root(PathBuf);

impl Root {
    pub(super) fn open(root: &Path) -> Result<Self, EditError> {
        let failed = |reason: String| EditError::Root { root: shown(root), reason };
        let place = root.canonicalize().map_err(|error| failed(error.to_string()))?;
        if place.is_dir() { Ok(Self(place)) } else { Err(failed("it is not a folder".to_owned())) }
    }

    pub(super) fn at(&self, path: &Path) -> PathBuf {
        self.0.join(path)
    }

    /// Returns whether the path of the folder has this end.
    pub(super) fn ends_with(&self, end: &Path) -> bool {
        self.0.ends_with(end)
    }

    /// The path of a file without links and dots, relative to the root; the file need not exist.
    pub(super) fn resolve(&self, path: &Path) -> Result<PathBuf, EditError> {
        let refused = |reason| Err(EditError::path(path, reason));
        let Some(text) = path.to_str() else { return refused("its name is not UTF-8") };
        if text.contains('\0') {
            return refused("its name has a NUL character");
        }
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => names.push(name),
                Component::CurDir => {}
                Component::ParentDir => return refused("its path has `..`"),
                Component::RootDir | Component::Prefix(_) => return refused("its path is absolute"),
            }
        }
        let (mut there, mut missing) = (self.0.clone(), PathBuf::new());
        for name in names {
            let next = there.join(name);
            if !missing.as_os_str().is_empty() {
                missing.push(name);
                continue;
            }
            match fs::symlink_metadata(&next) {
                Ok(_) => there = next.canonicalize().map_err(|error| EditError::read(path, &error))?,
                Err(error) if error.kind() == ErrorKind::NotFound => missing.push(name),
                Err(error) if error.kind() == ErrorKind::NotADirectory => {
                    return refused("a part of its path is a file");
                }
                Err(error) => return Err(EditError::read(path, &error)),
            }
        }
        let Ok(inside) = there.strip_prefix(&self.0) else { return refused("a link leads out of the source folder") };
        let found = if missing.as_os_str().is_empty() { inside.to_owned() } else { inside.join(missing) };
        if found.as_os_str().is_empty() {
            return refused("it is the source folder itself");
        }
        if found.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return refused("it belongs to git");
        }
        if found.to_str().is_none() {
            return refused("its name is not UTF-8");
        }
        Ok(found)
    }

    /// The metadata of a file, by its resolved path; `None` if it does not exist.
    pub(super) fn metadata(&self, path: &Path) -> Result<Option<Metadata>, EditError> {
        match fs::symlink_metadata(self.at(path)) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(EditError::read(path, &error)),
        }
    }

    /// The text of a file, by its resolved path; `None` if it does not exist.
    pub(super) fn read(&self, path: &Path) -> Result<Option<String>, EditError> {
        let Some(metadata) = self.metadata(path)? else { return Ok(None) };
        if !metadata.is_file() {
            return Err(EditError::not_editable(path, "it is not a regular file"));
        }
        if metadata.len() > MOST_BYTES {
            return Err(EditError::not_editable(path, "it is larger than 4 MiB"));
        }
        let bytes = regular::read(&self.at(path), MOST_BYTES).map_err(|error| EditError::read(path, &error))?;
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(Some(text)),
            _ => Err(EditError::not_editable(path, "it is not UTF-8 text")),
        }
    }

    pub(super) fn missing_folders(&self, path: &Path) -> usize {
        let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        above.take_while(|folder| !self.at(folder).exists()).count()
    }
}

pub(super) fn mode_of(metadata: &Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o7777
}

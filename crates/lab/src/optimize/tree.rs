//! Copies of the sources, and changes in a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use walkdir::{DirEntry, WalkDir};

use wavesieve_export::target::resolved;

const LEFT_OUT: [&str; 1] = [".git"];
const MOST_BYTES: u64 = 4 << 30;

/// Sizes and times of the files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing(BTreeMap<PathBuf, (u64, Option<SystemTime>)>);

impl Listing {
    /// Lists all files below a folder, without those below `without`.
    pub(super) fn of(root: &Path, without: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        for entry in entries(root, without) {
            let entry = entry.with_context(|| format!("cannot list {}", root.display()))?;
            if entry.file_type().is_file() {
                let metadata = entry.metadata().with_context(|| format!("cannot read {}", entry.path().display()))?;
                files.insert(below(root, entry.path()), (metadata.len(), metadata.modified().ok()));
            }
        }
        Ok(Self(files))
    }

    /// The files that changed.
    pub(super) fn changed_since(&self, earlier: &Self) -> Vec<PathBuf> {
        let new = self.0.iter().filter(|(path, state)| earlier.0.get(*path) != Some(state)).map(|(path, _)| path);
        let gone = earlier.0.keys().filter(|path| !self.0.contains_key(*path));
        new.chain(gone).cloned().collect()
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }
}

/// Copies a folder, with the times of its files: `make` depends on them. Returns links that lead out of it, which stay
/// the same.
pub(super) fn copy(root: &Path, copy: &Path, without: &Path) -> Result<Vec<PathBuf>> {
    let mut bytes = 0;
    let mut outside = Vec::new();
    for entry in entries(root, without) {
        let entry = entry.with_context(|| format!("cannot list {}", root.display()))?;
        let (from, to) = (entry.path(), copy.join(below(root, entry.path())));
        let context = || format!("cannot copy {} to {}", from.display(), to.display());
        if entry.file_type().is_dir() {
            fs::create_dir_all(&to).with_context(context)?;
        } else if entry.file_type().is_symlink() {
            let target = fs::read_link(from).with_context(context)?;
            if from.canonicalize().is_ok_and(|real| !real.starts_with(root)) {
                outside.push(below(root, from));
            }
            // A link to a file of the sources leads to its copy.
            let inside = if target.is_absolute() { resolved(&target) } else { PathBuf::new() };
            let target = inside.strip_prefix(root).map(|below| copy.join(below)).unwrap_or(target);
            link(&target, &to).with_context(context)?;
        } else if entry.file_type().is_file() {
            let metadata = entry.metadata().with_context(context)?;
            bytes += metadata.len();
            if bytes > MOST_BYTES {
                bail!(
                    "{} has more than {} GiB, which is too much to copy; name a smaller folder with --source-dir",
                    root.display(),
                    MOST_BYTES >> 30
                );
            }
            fs::copy(from, &to).with_context(context)?;
            make_writable(&to).with_context(context)?;
            if let Ok(time) = metadata.modified() {
                let file = fs::OpenOptions::new().append(true).open(&to);
                // A read-only copy keeps its own time.
                drop(file.and_then(|file| file.set_modified(time)));
            }
        }
    }
    Ok(outside)
}

fn entries(root: &Path, without: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    let without = without.to_owned();
    let is_kept = move |entry: &DirEntry| {
        entry.path() != without && !LEFT_OUT.iter().any(|name| entry.depth() > 0 && entry.file_name() == *name)
    };
    WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_kept)
}

fn below(root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

/// Makes a file writable for its owner after it was copied with its permissions.
fn make_writable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata()?.permissions().mode();
    if mode & 0o200 == 0 { fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o200)) } else { Ok(()) }
}

fn link(target: &Path, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_all_but_the_repository_and_the_lab() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("proj");
        for (name, text) in [("k.hip", "a"), ("sub/b.h", "bb"), (".git/HEAD", "x"), ("lab/old", "y"), (".hidden", "z")]
        {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        }
        link(Path::new("k.hip"), &root.join("again.hip")).unwrap();
        let to = folder.path().join("copy");
        copy(&root, &to, &root.join("lab")).unwrap();
        let (original, copied) =
            (Listing::of(&root, &root.join("lab")).unwrap(), Listing::of(&to, Path::new("-")).unwrap());
        assert_eq!(original, copied);
        let names: Vec<String> = copied.files().map(|path| path.display().to_string()).collect();
        assert_eq!(names, [".hidden", "k.hip", "sub/b.h"]);
        assert_eq!(fs::read_link(to.join("again.hip")).unwrap(), Path::new("k.hip"));
        fs::write(to.join("k.hip"), "other").unwrap();
        fs::remove_file(to.join(".hidden")).unwrap();
        fs::write(to.join("new"), "").unwrap();
        let changed = Listing::of(&to, Path::new("-")).unwrap().changed_since(&copied);
        assert_eq!(changed, [Path::new("k.hip"), Path::new("new"), Path::new(".hidden")]);
    }
}

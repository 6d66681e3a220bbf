mod answers;
mod changes;
mod patches;
mod paths;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Edit, FileEdit};

struct Tree(TempDir);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| tree.write(name, text));
        tree
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let place = self.at(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    /// All files with their bytes; folders end in a slash.
    fn all(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        for entry in walkdir::WalkDir::new(self.root()).min_depth(1).sort_by_file_name() {
            let entry = entry.unwrap();
            let name = entry.path().strip_prefix(self.root()).unwrap().to_string_lossy().into_owned();
            match entry.file_type() {
                kind if kind.is_dir() => found.push((name + "/", Vec::new())),
                kind if kind.is_symlink() => found.push((name + "@", Vec::new())),
                _ => found.push((name, fs::read(entry.path()).unwrap())),
            }
        }
        found
    }
}

fn file(path: &str, before: Option<&str>, after: Option<&str>) -> FileEdit {
    FileEdit {
        path: PathBuf::from(path),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        ..FileEdit::default()
    }
}

fn error_of<T: std::fmt::Debug>(result: Result<T, super::EditError>) -> String {
    result.unwrap_err().to_string()
}

/// Applies and reverts an edit: nothing may differ afterwards.
fn there_and_back(tree: &Tree, edit: &Edit) {
    let before = tree.all();
    edit.apply(tree.root()).unwrap();
    for file in &edit.files {
        assert_eq!(fs::read(tree.at(file.path.to_str().unwrap())).ok(), file.after.clone().map(String::into_bytes));
    }
    edit.revert(tree.root()).unwrap();
    assert_eq!(tree.all(), before);
}

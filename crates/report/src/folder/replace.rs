//! Checks whether a folder may be written: over one that this program wrote, never over other files.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::index::{DOCUMENT, INDEX, SCHEMA};
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_input::is_unfinished;

/// Present content of the path of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderPlace {
    /// Nothing, a link to nothing, or an empty folder.
    Free,
    /// A folder that this program wrote and that holds nothing else.
    Ours,
    /// A file, or a folder with this file that this program did not write.
    Foreign(Option<String>),
}

/// Determines the content of a path.
///
/// # Errors
/// When the folder cannot be read, or its path cannot be examined.
pub fn place(path: &Path) -> io::Result<FolderPlace> {
    if !path.try_exists()? {
        return Ok(FolderPlace::Free);
    }
    if !path.is_dir() {
        return Ok(FolderPlace::Foreign(None));
    }
    let known = known_files(path);
    let mut found = FolderContent { names: BTreeSet::new(), foreign: None };
    found.search(path, "", &known)?;
    Ok(match found.foreign {
        Some(name) => FolderPlace::Foreign(Some(name)),
        None if found.names.is_empty() => FolderPlace::Free,
        None => FolderPlace::Ours,
    })
}

/// The files that the index of a folder names, itself included; empty without an index.
fn known_files(folder: &Path) -> BTreeSet<String> {
    let index: Option<Value> =
        regular::read(&folder.join(INDEX), LARGE_BYTES).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(index) = index.filter(|index| index.get("schema").and_then(Value::as_str) == Some(SCHEMA)) else {
        return BTreeSet::new();
    };
    let tables = index.get("tables").and_then(Value::as_array).into_iter().flatten();
    let files = tables.filter_map(|table| table.get("file")?.as_str().map(ToOwned::to_owned));
    files.chain([INDEX.to_owned(), DOCUMENT.to_owned()]).collect()
}

/// Content of a folder.
struct FolderContent {
    names: BTreeSet<String>,
    foreign: Option<String>,
}

impl FolderContent {
    fn search(&mut self, folder: &Path, prefix: &str, known: &BTreeSet<String>) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries.into_iter().filter(|entry| !is_unfinished(&entry.file_name())) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type()?;
            let leads_to_known = || known.iter().any(|file| file.starts_with(&format!("{name}/")));
            if kind.is_dir() && leads_to_known() {
                self.search(&entry.path(), &format!("{name}/"), known)?;
            } else if !kind.is_file() || !known.contains(&name) {
                self.foreign = self.foreign.take().or(Some(name.clone()));
            }
            self.names.insert(name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_written_here_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("out");
        assert_eq!(place(&folder).unwrap(), FolderPlace::Free);
        fs::create_dir_all(folder.join("time")).unwrap();
        assert_eq!(place(&folder).unwrap(), FolderPlace::Foreign(Some("time".to_owned())));
        fs::write(folder.join("time/busy.csv"), "").unwrap();
        fs::write(folder.join(INDEX), r#"{"schema": "wavesieve-tables", "tables": [{"file": "time/busy.csv"}]}"#)
            .unwrap();
        assert_eq!(place(&folder).unwrap(), FolderPlace::Ours);
        fs::write(folder.join("time/mine.csv"), "").unwrap();
        assert_eq!(place(&folder).unwrap(), FolderPlace::Foreign(Some("time/mine.csv".to_owned())));
        fs::remove_file(folder.join("time/mine.csv")).unwrap();
        fs::write(folder.join(INDEX), r#"{"schema": "other", "tables": [{"file": "time/busy.csv"}]}"#).unwrap();
        assert!(matches!(place(&folder).unwrap(), FolderPlace::Foreign(Some(_))));
        assert_eq!(place(&folder.join(INDEX)).unwrap(), FolderPlace::Foreign(None));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_cannot_be_examined_is_not_free() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&link, &link).unwrap();
        assert!(place(&link).is_err());
    }

    #[test]
    fn an_empty_folder_is_free() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(place(directory.path()).unwrap(), FolderPlace::Free);
    }
}

//! Index files of rocpd, as `rocpd package` and `wavesieve package` write them: YAML that lists databases.

use std::fs;
use std::path::{Path, PathBuf};

use saphyr::{LoadableYamlNode, Yaml};

use wavesieve_files::regular;

/// The name of the index in a folder.
pub const INDEX: &str = "index.yaml";
/// The ending of folders with an index.
pub const PACKAGE: &str = "rpdb";
/// Keys above the list, from the outside to the inside.
pub const KEYS: [&str; 2] = ["rocprofiler-sdk", "rocpd"];
/// The version that is written and read.
pub const VERSION: &str = "1.0";
/// Maximum bytes of an index: a larger file is not an index.
const LONGEST: u64 = 16 << 20;

/// Whether a file is named like an index.
pub fn is_index(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The index in a folder that is named like a package.
pub(crate) fn index_in(folder: &Path) -> Option<PathBuf> {
    let is_package = folder.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(PACKAGE));
    let index = folder.join(INDEX);
    (is_package && index.is_file()).then_some(index)
}

/// The files that an index lists, as paths from the current folder.
///
/// # Errors
/// The problem with the index.
pub fn listed_files(index: &Path) -> Result<Vec<PathBuf>, String> {
    let size = fs::metadata(index).map_err(|error| format!("cannot be read: {error}"))?.len();
    if size > LONGEST {
        return Err("too large for an index of databases; name the databases themselves".to_owned());
    }
    let text = regular::read_text(index, LONGEST).map_err(|error| format!("cannot be read: {error}"))?;
    let List { path, files } = parse(&text)?;
    let folder = index.parent().unwrap_or(Path::new("")).join(path);
    Ok(files.iter().map(|file| clean(&folder.join(file))).collect())
}

#[derive(Debug, PartialEq, Eq)]
pub struct List {
    /// The base of the files' paths, itself relative to the folder of the index.
    path: String,
    files: Vec<String>,
}

/// Reads the text of an index.
///
/// # Errors
/// The problem with the text.
pub fn parse(text: &str) -> Result<List, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| format!("not YAML: {error}; write the index again"))?;
    let [document] = documents.as_slice() else {
        return Err(format!("{} YAML documents instead of one; write the index again", documents.len()));
    };
    let lacks = |what: &str| format!("not a rocpd index: `{what}` is missing");
    let mut node = document;
    for (depth, key) in KEYS.iter().enumerate() {
        let shown = || KEYS.iter().take(depth + 1).copied().collect::<Vec<_>>().join(": ");
        node = node.as_mapping_get(key).ok_or_else(|| lacks(&shown()))?;
    }
    if let Some(version) = node.as_mapping_get("rocpd_package_version") {
        let shown = scalar(version).unwrap_or_default();
        if shown.split('.').next() != VERSION.split('.').next() {
            return Err(format!(
                "unsupported index version {shown} (supported: {VERSION}); name the databases themselves"
            ));
        }
    }
    let path = match node.as_mapping_get("path") {
        None => ".".to_owned(),
        Some(path) => scalar(path).ok_or("`path` of the index is not text; write the index again")?,
    };
    let files = node.as_mapping_get("files").ok_or_else(|| lacks("files"))?;
    let files = match files.as_vec() {
        Some(files) => files.iter().map(scalar).collect::<Option<Vec<String>>>(),
        None => scalar(files).map(|file| vec![file]),
    };
    let files = files.ok_or("`files` of the index is neither a path nor a list of paths; write the index again")?;
    if files.is_empty() {
        return Err("an index that lists no files; package some databases".to_owned());
    }
    Ok(List { path, files })
}

/// A text, or a number as written.
fn scalar(node: &Yaml<'_>) -> Option<String> {
    let number = || node.as_integer().map(|number| number.to_string());
    let real = || node.as_floating_point().map(|number| format!("{number:?}"));
    node.as_str().map(str::to_owned).or_else(number).or_else(real).filter(|text| !text.is_empty())
}

/// A path without `.` in it.
fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_file_or_several() {
        let index = |files: &str| {
            format!("rocprofiler-sdk:\n  rocpd:\n    files: {files}\n    path: .\n    rocpd_package_version: '1.0'\n")
        };
        for (files, expected) in [
            ("a.db", vec!["a.db"]),
            ("[a.db, 'b c.db']", vec!["a.db", "b c.db"]),
            ("\n    - a.db\n    - \"b\\x41.db\"", vec!["a.db", "bA.db"]),
            ("\n    - a long\n      name.db", vec!["a long name.db"]),
            ("7", vec!["7"]),
        ] {
            let list = parse(&index(files)).unwrap();
            assert_eq!((list.path.as_str(), list.files), (".", expected.iter().map(ToString::to_string).collect()));
        }
    }

    #[test]
    fn other_texts_are_refused_with_a_reason() {
        for (text, reason) in [
            ("", "0 YAML documents"),
            ("a: [", "not YAML"),
            ("a: 1", "not a rocpd index: `rocprofiler-sdk` is missing"),
            ("rocprofiler-sdk: {rocpd: {path: .}}", "`files` is missing"),
            ("rocprofiler-sdk: {rocpd: {files: []}}", "lists no files"),
            ("rocprofiler-sdk: {rocpd: {files: [{a: b}]}}", "neither a path"),
            ("rocprofiler-sdk: {rocpd: {rocpd_package_version: 2.0, files: a}}", "version 2.0"),
            ("rocprofiler-sdk: 3", "`rocprofiler-sdk: rocpd` is missing"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[-a:\\[\\]{}&*!|>'\"#%@`,?. \n\t0-9]{0,60}") {
            let _ = parse(&text);
        }
    }
}

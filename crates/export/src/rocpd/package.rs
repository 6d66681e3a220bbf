//! A folder with an index of databases, as rocpd reads it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

use super::merge::merge;
use crate::atomic::write_directory;
use wavesieve_input::{INDEX, KEYS, RocpdFile, VERSION};
use wavesieve_tables::trace::Trace;

/// Fate of the databases.
pub enum Packaging<'a> {
    /// The index refers to them where they are.
    Refer,
    /// They are copied into the folder. `trace` covers all of them and has their ranks.
    Copy { trace: &'a Trace, keep_environment: bool },
}

/// Writes a folder with an index of databases. `place` is the resolved path of the folder.
///
/// # Errors
/// When a path is not UTF-8, or the folder cannot be written; then nothing is left behind.
pub fn package(files: &[RocpdFile], folder: &Path, place: &Path, packaging: &Packaging<'_>) -> Result<()> {
    write_directory(folder, |temporary| {
        let mut names = Vec::new();
        for file in files {
            names.push(match packaging {
                Packaging::Refer => relative(&fs::canonicalize(&file.path)?, place)?,
                Packaging::Copy { trace, keep_environment } => {
                    let name = free_name(file, &names);
                    let copy = temporary.join(&name);
                    if *keep_environment {
                        let copied = fs::copy(file.file.path(), &copy);
                        copied.with_context(|| format!("cannot copy {} to {}", file.shown(), folder.display()))?;
                    } else {
                        merge(std::slice::from_ref(file), trace, &copy, false)?;
                    }
                    name
                }
            });
        }
        let index = temporary.join(INDEX);
        fs::write(&index, text(&names)).with_context(|| format!("cannot write {}", folder.join(INDEX).display()))
    })
}

/// The text of an index.
fn text(names: &[String]) -> String {
    let [outer, inner] = KEYS;
    let mut text = format!("{outer}:\n  {inner}:\n    rocpd_package_version: \"{VERSION}\"\n    path: .\n    files:\n");
    for name in names {
        text.push_str(&format!("      - {}\n", quoted(name)));
    }
    text
}

/// A text as YAML.
fn quoted(text: &str) -> String {
    let is_plain = text.ends_with(".db")
        && text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '.')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// A path relative to a folder, both without links.
fn relative(path: &Path, folder: &Path) -> Result<String> {
    let (own, base): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (path.components().collect(), folder.components().collect());
    let shared = own.iter().zip(&base).take_while(|(one, other)| one == other).count();
    let up = base.iter().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(own.iter().skip(shared).copied()).collect();
    let text = relative.to_str().with_context(|| format!("the path {} is not UTF-8, rename it", path.display()))?;
    Ok(text.to_owned())
}

/// A name for a copy: the name of the file, with its folder in front or a number behind if the name is taken.
fn free_name(file: &RocpdFile, taken: &[String]) -> String {
    let part =
        |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default();
    let name = part(file.path.file_name());
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = stem.strip_suffix(".db").unwrap_or(stem);
    let folder = part(file.path.parent().and_then(Path::file_name));
    let numbered = (2..).map(|number| format!("{stem}_{number}.db"));
    let mut candidates = [format!("{stem}.db"), format!("{folder}_{stem}.db")].into_iter().chain(numbered);
    let free = candidates.find(|name| !taken.contains(name));
    free.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_the_folder_to_the_file() {
        let of = |path: &str, folder: &str| relative(Path::new(path), Path::new(folder)).unwrap();
        assert_eq!(of("/a/b/x.db", "/a/c.rpdb"), "../b/x.db");
        assert_eq!(of("/a/c.rpdb/x.db", "/a/c.rpdb"), "x.db");
        assert_eq!(of("/x.db", "/a/c.rpdb"), "../../x.db");
    }

    #[test]
    fn odd_names_are_quoted() {
        assert_eq!(quoted("../a-b/x.db"), "../a-b/x.db");
        assert_eq!(quoted("a b: #.db"), "\"a b: #.db\"");
        assert_eq!(quoted("-x.db"), "\"-x.db\"");
        assert_eq!(quoted("a\n\"b\".db"), "\"a\\n\\\"b\\\".db\"");
    }
}

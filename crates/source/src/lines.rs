//! Lines of source files below a directory, found by the paths that a compiler recorded on another machine.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};
use walkdir::{DirEntry, WalkDir};

use wavesieve_files::regular;

/// Maximum number of visited files and directories; source trees have fewer.
const MAX_ENTRIES: usize = 200_000;
/// Maximum bytes of a file to read.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// Maximum bytes of cached file contents.
const MAX_KEPT_BYTES: usize = 128 << 20;
/// Maximum characters of a displayed line.
const MAX_CHARACTERS: usize = 200;

/// The regular files below a directory. Nothing else is ever read: links are not followed, and recorded paths only
/// select among these files.
pub struct SourceTree {
    root: PathBuf,
    /// Paths below the root by file name.
    files: BTreeMap<String, Vec<PathBuf>>,
    read: BTreeMap<PathBuf, Option<Vec<String>>>,
    kept_bytes: usize,
    is_whole: bool,
}

impl SourceTree {
    /// Lists the files below a directory, in order of their names; hidden directories are left out.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn open(directory: &Path) -> Result<Self> {
        let root = directory
            .canonicalize()
            .with_context(|| format!("cannot read the source directory {}", directory.display()))?;
        let mut tree = Self { root, files: BTreeMap::new(), read: BTreeMap::new(), kept_bytes: 0, is_whole: true };
        tree.list().with_context(|| format!("cannot read the source directory {}", directory.display()))?;
        Ok(tree)
    }

    /// Lists the files. A subdirectory that cannot be listed has no lines to show.
    fn list(&mut self) -> Result<()> {
        let is_shown = |entry: &DirEntry| entry.depth() == 0 || !entry.file_type().is_dir() || !is_hidden(entry);
        let entries = WalkDir::new(&self.root).min_depth(1).sort_by_file_name().into_iter().filter_entry(is_shown);
        for (count, entry) in entries.enumerate() {
            if count == MAX_ENTRIES {
                self.is_whole = false;
                break;
            }
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    if let (Some(name), Ok(below)) = (entry.file_name().to_str(), entry.path().strip_prefix(&self.root))
                    {
                        self.files.entry(name.to_owned()).or_default().push(below.to_owned());
                    }
                }
                Err(error) if error.depth() == 0 => return Err(error.into()),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns whether all files were listed.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// A trimmed line of the file whose path has the longest common suffix with a recorded one. `None` if there is no
    /// such file or line, or if several files match equally.
    pub fn line(&mut self, recorded: &str, line: i64) -> Option<String> {
        let below = self.find(recorded)?.to_owned();
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        if let Some(lines) = self.read.get(&below) {
            return lines.as_ref()?.get(at).cloned();
        }
        let lines = self.lines_of(&below);
        let found = lines.as_ref().and_then(|lines| lines.get(at).cloned());
        let bytes = lines.iter().flatten().map(String::len).sum::<usize>();
        if self.kept_bytes.saturating_add(bytes) <= MAX_KEPT_BYTES {
            self.kept_bytes = self.kept_bytes.saturating_add(bytes);
            self.read.insert(below, lines);
        }
        found
    }

    fn find(&self, recorded: &str) -> Option<&Path> {
        let wanted: Vec<&str> = recorded.split(['/', '\\']).collect();
        // Parts before a `..` name another directory.
        let begin = wanted.iter().rposition(|part| *part == "..").map_or(0, |at| at + 1);
        let wanted: Vec<&str> =
            wanted.into_iter().skip(begin).filter(|part| !part.is_empty() && *part != ".").collect();
        let same = |below: &Path| -> usize {
            let path = self.root.join(below);
            let parts = path.components().rev().filter_map(|part| match part {
                Component::Normal(part) => part.to_str(),
                _ => None,
            });
            parts.zip(wanted.iter().rev()).take_while(|(one, other)| one == *other).count()
        };
        let candidates = self.files.get(*wanted.last()?)?;
        let rank = |below: &PathBuf| (same(below), std::cmp::Reverse(below.components().count()));
        let best = candidates.iter().map(rank).max()?;
        let mut fitting = candidates.iter().filter(|below| rank(below) == best);
        let found = fitting.next()?;
        fitting.next().is_none().then_some(found.as_path())
    }

    fn lines_of(&self, below: &Path) -> Option<Vec<String>> {
        let path = self.root.join(below).canonicalize().ok().filter(|path| path.starts_with(&self.root))?;
        let metadata = path.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
            return None;
        }
        let bytes = regular::read(&path, MAX_FILE_BYTES).ok()?;
        let shown = |line: &[u8]| -> String {
            let text = String::from_utf8_lossy(line);
            let printed: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
            printed.trim().chars().take(MAX_CHARACTERS).collect()
        };
        Some(bytes.split(|byte| *byte == b'\n').map(shown).collect())
    }
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().to_string_lossy().starts_with('.')
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SourceTree) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join("root").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tree = SourceTree::open(&directory.path().join("root")).unwrap();
        (directory, tree)
    }

    #[test]
    fn the_longest_common_end_decides() {
        let (directory, mut tree) = tree(&[
            ("a/k.hip", "one\n\ttwo\t\n"),
            ("b/k.hip", "three"),
            ("k.hip", "four"),
            ("c/d/x.h", "e"),
            ("f/d/x.h", "g"),
        ]);
        let line = |tree: &mut SourceTree, file: &str, line| tree.line(file, line);
        assert_eq!(line(&mut tree, "/build/machine/a/k.hip", 2).as_deref(), Some("two"));
        assert_eq!(line(&mut tree, "/elsewhere/b/k.hip", 1).as_deref(), Some("three"));
        assert_eq!(line(&mut tree, "C:\\work\\b\\k.hip", 1).as_deref(), Some("three"));
        assert_eq!(line(&mut tree, "k.hip", 1).as_deref(), Some("four"));
        assert_eq!(line(&mut tree, "d/x.h", 1), None, "two files fit");
        assert_eq!(line(&mut tree, "c/d/x.h", 1).as_deref(), Some("e"));
        let own = directory.path().join("root/k.hip");
        assert_eq!(line(&mut tree, own.to_str().unwrap(), 1).as_deref(), Some("four"));
        for (file, at) in [("a/k.hip", 9), ("a/k.hip", 0), ("a/k.hip", -1), ("a/none.hip", 1), ("", 1), ("..", 1)] {
            assert_eq!(line(&mut tree, file, at), None, "{file}:{at}");
        }
        assert!(tree.is_whole());
    }

    #[test]
    fn nothing_outside_is_read() {
        let (directory, _) = tree(&[("k.hip", "inside"), (".git/k2.hip", "hidden")]);
        let outside = directory.path().join("secret.txt");
        fs::write(&outside, "secret").unwrap();
        let root = directory.path().join("root");
        std::os::unix::fs::symlink(&outside, root.join("link.txt")).unwrap();
        std::os::unix::fs::symlink(directory.path(), root.join("up")).unwrap();
        let mut tree = SourceTree::open(&root).unwrap();
        for file in ["../secret.txt", "secret.txt", "link.txt", "up/secret.txt", outside.to_str().unwrap(), "k2.hip"] {
            assert_eq!(tree.line(file, 1), None, "{file}");
        }
        assert_eq!(tree.line("x/../k.hip", 1).as_deref(), Some("inside"));
        // A file that became a link after it was listed is not read.
        fs::remove_file(root.join("k.hip")).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("k.hip")).unwrap();
        assert_eq!(SourceTree { read: BTreeMap::new(), ..tree }.line("k.hip", 1), None);
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = "x".repeat(1000) + "\n\u{1b}[31mred";
        let (_directory, mut tree) = tree(&[("a.c", &long)]);
        assert_eq!(tree.line("a.c", 1).map(|line| line.len()), Some(MAX_CHARACTERS));
        assert_eq!(tree.line("a.c", 2).as_deref(), Some("[31mred"), "no escape sequence reaches a terminal");
    }
}

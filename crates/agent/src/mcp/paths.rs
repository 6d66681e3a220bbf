//! Restricts the paths of an agent to the directories of the server, after links are resolved.

use std::path::{Component, Path, PathBuf};

use anyhow::Context as _;
use walkdir::WalkDir;

use super::failure::ToolFailure;
use wavesieve_input::{InputError, is_dataset, is_unfinished};

/// Characters that make a path a pattern.
const PATTERN: [char; 3] = ['*', '?', '['];

/// The directories, with links resolved.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    roots: Vec<PathBuf>,
}

impl Roots {
    pub(super) fn new(directories: &[PathBuf]) -> Result<Self, ToolFailure> {
        let here = [PathBuf::from(".")];
        let named = if directories.is_empty() { &here } else { directories };
        let resolve = |directory: &PathBuf| match directory.canonicalize() {
            Ok(root) if root.is_dir() => Ok(root),
            _ => Err(ToolFailure::usage(format!("{} is not a directory; name one with traces", directory.display()))),
        };
        Ok(Self { roots: named.iter().map(resolve).collect::<Result<_, _>>()? })
    }

    /// The directories for display.
    pub(super) fn shown(&self) -> Vec<String> {
        self.roots.iter().map(|root| root.display().to_string()).collect()
    }

    /// The failure for the first directory that no longer exists.
    pub(super) fn gone(&self) -> Option<ToolFailure> {
        self.roots.iter().find(|root| !root.is_dir()).map(|root| gone(root))
    }

    /// Returns whether a resolved path is in one of the directories.
    fn contain(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// Resolves an existing file or directory. A relative path is looked up in each of the directories, then in the
    /// working directory of the server.
    ///
    /// # Errors
    /// If it does not exist, or is outside. Whether a path outside exists is not revealed.
    pub(super) fn existing(&self, named: &str) -> Result<PathBuf, ToolFailure> {
        self.found(named).map_err(|failure| self.gone().unwrap_or(failure))
    }

    fn found(&self, named: &str) -> Result<PathBuf, ToolFailure> {
        let mut is_outside = false;
        for path in self.roots.iter().map(|root| root.join(named)) {
            match path.canonicalize() {
                Ok(found) if self.contain(&found) => return Ok(found),
                Ok(_) => is_outside = true,
                Err(_) => is_outside |= !self.would_contain(&path),
            }
        }
        if let Some(found) = Path::new(named).canonicalize().ok().filter(|found| self.contain(found)) {
            return Ok(found);
        }
        Err(if is_outside { self.outside(named) } else { missing(named) })
    }

    /// Returns whether a path that does not exist would be in one of the directories.
    fn would_contain(&self, path: &Path) -> bool {
        let existing = path.ancestors().find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
        let rest = existing.as_ref().and_then(|(ancestor, _)| path.strip_prefix(ancestor).ok());
        let climbs = rest.is_none_or(|rest| rest.components().any(|part| part == Component::ParentDir));
        !climbs && existing.is_some_and(|(_, found)| self.contain(&found))
    }

    /// The inputs that paths and patterns name, and links in them that lead outside, which are left out. If a directory
    /// has such a link, its other entries become the inputs.
    pub(super) fn inputs(&self, named: &[String]) -> Result<(Vec<String>, Vec<PathBuf>), ToolFailure> {
        let mut inputs = Vec::new();
        for name in named {
            match self.existing(name) {
                Ok(path) => inputs.push(text_of(path)?),
                Err(_) if name.contains(PATTERN) => {
                    inputs.extend(self.matches(name).map_err(|failure| self.gone().unwrap_or(failure))?)
                }
                Err(failure) => return Err(failure),
            }
        }
        if inputs.is_empty() {
            return Err(ToolFailure::usage("no input; pass a file, directory or glob"));
        }
        let (mut inside, mut left_out) = (Vec::new(), Vec::new());
        for input in &inputs {
            let links = self.links_outside(Path::new(input));
            without_links(Path::new(input), &links, &mut inside)?;
            left_out.extend(links);
        }
        match left_out.first() {
            Some(link) if inside.is_empty() => Err(self.outside(&link.to_string_lossy())),
            _ => Ok((inside.into_iter().map(text_of).collect::<Result<_, _>>()?, left_out)),
        }
    }

    fn matches(&self, pattern: &str) -> Result<Vec<String>, ToolFailure> {
        if Path::new(pattern).components().any(|part| part == Component::ParentDir) {
            return Err(ToolFailure::usage(format!("invalid pattern `{pattern}`: leave out ..")));
        }
        let here = std::env::current_dir().ok();
        let mut matched = Vec::new();
        for (root, is_own) in self.roots.iter().map(|root| (root, true)).chain(here.iter().map(|here| (here, false))) {
            let path = root.join(pattern);
            let is_plain = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(PATTERN);
            // The directories before the first wildcard; wildcards in the name of the root do not count.
            let base = match path.strip_prefix(root) {
                Ok(rest) => root.join(rest.components().take_while(is_plain).collect::<PathBuf>()),
                Err(_) => path.components().take_while(is_plain).collect(),
            };
            let found = base.canonicalize().ok();
            let is_inside = found.as_ref().map_or_else(|| self.would_contain(&base), |found| self.contain(found));
            match found {
                Some(found) if is_inside => matched.extend(self.matches_below(pattern, &path, &base, found)?),
                _ if is_own && !is_inside => return Err(self.outside(pattern)),
                _ => {}
            }
            if !matched.is_empty() {
                return Ok(matched);
            }
        }
        Err(missing(pattern))
    }

    /// The matches of a pattern; `base` is its part without wildcards, and `found` is that part with links resolved.
    fn matches_below(
        &self,
        pattern: &str,
        path: &Path,
        base: &Path,
        found: PathBuf,
    ) -> Result<Vec<String>, ToolFailure> {
        let rest = path.strip_prefix(base).unwrap_or(Path::new("")).to_string_lossy().into_owned();
        let full = format!("{}/{rest}", glob::Pattern::escape(&text_of(found)?));
        let matched =
            glob::glob(&full).map_err(|error| ToolFailure::usage(format!("invalid pattern `{pattern}`: {error}")))?;
        let mut inputs = Vec::new();
        for path in matched.filter_map(Result::ok) {
            // A link that leads outside stays unresolved, and is left out with those in directories.
            match path.canonicalize() {
                Ok(found) if self.contain(&found) => inputs.push(text_of(found)?),
                Ok(_) => inputs.push(text_of(path)?),
                Err(_) => {}
            }
        }
        Ok(inputs)
    }

    /// The links below a directory that lead outside: input search would follow them. Nothing outside is listed.
    fn links_outside(&self, directory: &Path) -> Vec<PathBuf> {
        let mut links = Vec::new();
        let mut entries = WalkDir::new(directory).follow_links(true).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            let Ok(entry) = entry else { continue };
            let leads_to = if entry.path_is_symlink() { entry.path().canonicalize().ok() } else { None };
            if leads_to.is_some_and(|target| !self.contain(&target)) {
                if entry.file_type().is_dir() {
                    entries.skip_current_dir();
                }
                links.push(entry.into_path());
            }
        }
        links
    }

    /// Rejects files of a trace that are outside.
    pub(super) fn check_files<'a>(&self, files: impl Iterator<Item = &'a Path>) -> Result<(), ToolFailure> {
        for file in files {
            let found = file.canonicalize().with_context(|| format!("cannot find {}", file.display()))?;
            if !self.contain(&found) {
                return Err(self.outside(&file.to_string_lossy()));
            }
        }
        Ok(())
    }

    fn outside(&self, named: &str) -> ToolFailure {
        let roots = self.shown().join(", ");
        ToolFailure::usage(format!("{named} is outside of the directories of this server; name a path in {roots}"))
    }
}

/// A path, or the entries of a directory without those links, in as few entries as possible.
fn without_links(path: &Path, links: &[PathBuf], inputs: &mut Vec<PathBuf>) -> Result<(), ToolFailure> {
    let Some(link) = links.iter().find(|link| link.starts_with(path)) else {
        inputs.push(path.to_owned());
        return Ok(());
    };
    if links.iter().any(|link| link == path) {
        return Ok(());
    }
    if is_dataset(path) {
        let (path, link) = (path.display(), link.display());
        let reason = "leads out of the directories of this server; remove the link";
        return Err(ToolFailure::usage(format!("{path} is a dataset, and {link} in it {reason}")));
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
        .map(|entries| {
            let finished = entries.filter_map(Result::ok).filter(|entry| !is_unfinished(&entry.file_name()));
            finished.map(|entry| entry.path()).collect()
        })
        .unwrap_or_default();
    entries.sort();
    entries.iter().try_for_each(|entry| without_links(entry, links, inputs))
}

/// The failure of a call that needs a directory that no longer exists.
pub(super) fn gone(directory: &Path) -> ToolFailure {
    ToolFailure::usage(format!("{} no longer exists; restore it or restart the server", directory.display()))
}

fn missing(named: &str) -> ToolFailure {
    InputError::NoSuchFile { path: named.to_owned() }.into()
}

fn text_of(path: PathBuf) -> Result<String, ToolFailure> {
    let text = path.into_os_string().into_string();
    text.map_err(|name| ToolFailure::usage(format!("{} is not UTF-8; rename it", name.to_string_lossy())))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_paths_inside_are_taken() {
        let place = tempfile::tempdir().unwrap();
        let (inside, secret) = (place.path().join("inside"), place.path().join("secret"));
        fs::create_dir_all(inside.join("a")).unwrap();
        fs::write(inside.join("a/x.db"), "x").unwrap();
        fs::write(inside.join("[b].db"), "b").unwrap();
        fs::write(&secret, "s").unwrap();
        let roots = Roots::new(std::slice::from_ref(&inside)).unwrap();
        let takes = |named: &str| roots.inputs(&[named.to_owned()]);
        for named in ["a", "a/x.db", "a/../a/x.db", ".", "*/x.db", "[b].db", inside.join("a").to_str().unwrap()] {
            assert!(takes(named).is_ok(), "{named}");
        }
        let refused = |named: &str| takes(named).unwrap_err().message;
        for named in ["../secret", "/etc/passwd", "../nothing", "a/../../nothing", "/nothing/here", "/etc/*"] {
            assert!(refused(named).contains("outside"), "{named}: {}", refused(named));
        }
        assert!(refused("*/../../*").contains("leave out .."));
        assert!(refused("b").contains("no such file"));
        assert!(refused("*.rpd").contains("no such file"));
        // Links to files and directories outside are left out; the rest is usable.
        let outer = place.path().join("outer");
        fs::create_dir_all(&outer).unwrap();
        fs::write(outer.join("o.db"), "o").unwrap();
        symlink(&secret, inside.join("a/link")).unwrap();
        symlink(&outer, inside.join("a/folder")).unwrap();
        let link = inside.canonicalize().unwrap().join("a/link");
        for named in ["a", "a/*", ".", "*"] {
            let (inputs, left_out) = takes(named).unwrap();
            assert_eq!(left_out, [link.with_file_name("folder"), link.clone()], "{named}");
            assert!(inputs.iter().any(|input| input.ends_with("a/x.db")), "{named}: {inputs:?}");
            let is_outside =
                |input: &String| Path::new(input).canonicalize().is_ok_and(|path| !path.starts_with(&inside));
            assert!(!inputs.iter().any(is_outside), "{named}: {inputs:?}");
        }
        // Unfinished files are never inputs, and a dataset is not split.
        fs::write(inside.join("a/.wavesieve-aB3dE6"), "x").unwrap();
        assert!(!takes("a").unwrap().0.iter().any(|input| input.contains(".wavesieve-")));
        fs::create_dir_all(inside.join("b/ds")).unwrap();
        fs::write(inside.join("b/ds/manifest.json"), r#"{"format": "wavesieve-dataset"}"#).unwrap();
        symlink(&secret, inside.join("b/ds/notes")).unwrap();
        for named in ["b", "b/ds"] {
            assert!(refused(named).contains("b/ds is a dataset, and "), "{named}: {}", refused(named));
        }
        for named in ["a/link", "a/folder", "a/folder/o.db", "a/li*", "a/folder/*"] {
            assert!(refused(named).contains("outside"), "{named}");
        }
        assert!(Roots::new(&[secret]).is_err());
    }
}

//! The folder that is copied for each candidate, and where commands run in a copy.

use std::path::{Component, Path, PathBuf};

use super::error::OptimizeError;
use wavesieve_export::target::resolved;

/// Placeholder in commands for the folder of a copy.
const FOLDER: &str = "{dir}";

/// The original sources.
#[derive(Clone, Debug)]
pub struct SourcesPlace {
    /// The folder that is copied: an absolute path without links.
    pub root: PathBuf,
    /// The source file, relative to the root.
    pub file: PathBuf,
    /// The folder where commands run, relative to the root.
    pub directory: PathBuf,
}

impl SourcesPlace {
    /// Determines the root: the named folder, or the git repository around the file, or its folder. Commands run in the
    /// current folder if it is below the root, otherwise in the root.
    ///
    /// # Errors
    /// When the file or the root does not exist, or one is not below the other.
    pub fn find(file: &Path, root: Option<&Path>, current: &Path) -> Result<Self, OptimizeError> {
        let real = |path: &Path| {
            path.canonicalize()
                .map_err(|error| OptimizeError::Usage(format!("{}: {error}; name one that exists", path.display())))
        };
        let file = real(file)?;
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        let root = match root {
            Some(root) => real(root)?,
            None => folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&folder).to_owned(),
        };
        let Ok(below) = file.strip_prefix(&root) else {
            let text = format!("{} is not below {}; name the folder around it", file.display(), root.display());
            return Err(OptimizeError::Usage(text));
        };
        let current = real(current)?;
        let directory = current.strip_prefix(&root).map(Path::to_owned).unwrap_or_default();
        Ok(Self { file: below.to_owned(), directory, root })
    }

    /// A file below the root, named relative to the commands' folder or by its absolute path.
    ///
    /// # Errors
    /// When it is outside of the root.
    pub fn below(&self, path: &Path) -> Result<PathBuf, OptimizeError> {
        let whole = resolved(&self.root.join(&self.directory).join(path));
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        match whole.strip_prefix(&self.root) {
            Ok(below) if below.components().all(is_plain) => Ok(below.to_owned()),
            _ => Err(OptimizeError::Usage(format!("{} is not below {}", path.display(), self.root.display()))),
        }
    }

    /// A word of a command for a copy: maps `{dir}` and paths below the root into it, also after `-I`, `name=` and
    /// between colons.
    pub fn mapped(&self, word: &str, copy: &Path) -> String {
        let word = word.replace(FOLDER, &copy.to_string_lossy());
        let parts = word.split_inclusive([':', ',', '=']);
        parts.map(|part| self.mapped_part(part, copy)).collect()
    }

    fn mapped_part(&self, part: &str, copy: &Path) -> String {
        let path = part.trim_end_matches([':', ',', '=']);
        let end = part.strip_prefix(path).unwrap_or_default();
        // An option of one letter, such as -I.
        let start = path.find('/').filter(|at| *at == 2 && path.starts_with('-')).unwrap_or(0);
        let (option, path) = path.split_at_checked(start).unwrap_or_default();
        if !path.starts_with('/') {
            return part.to_owned();
        }
        match resolved(Path::new(path)).strip_prefix(&self.root) {
            Ok(below) if below.as_os_str().is_empty() => format!("{option}{}{end}", copy.display()),
            Ok(below) if below.components().all(|part| matches!(part, Component::Normal(_))) => {
                format!("{option}{}{end}", copy.join(below).display())
            }
            _ => part.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_sources_lead_into_the_copy() {
        let place = SourcesPlace { root: "/home/u/proj".into(), file: "k.hip".into(), directory: PathBuf::new() };
        let mapped = |word: &str| place.mapped(word, Path::new("/lab/c1"));
        for (word, expected) in [
            ("/home/u/proj/app", "/lab/c1/app"),
            ("/home/u/proj", "/lab/c1"),
            ("-I/home/u/proj/include", "-I/lab/c1/include"),
            ("/usr/lib:/home/u/proj/lib", "/usr/lib:/lab/c1/lib"),
            ("--out=/home/u/proj/o.bin", "--out=/lab/c1/o.bin"),
            ("{dir}/app", "/lab/c1/app"),
            ("-DX={dir}", "-DX=/lab/c1"),
            // Another folder with the same prefix, relative paths, and paths that leave the root again.
            ("/home/u/project/app", "/home/u/project/app"),
            ("./app", "./app"),
            ("/home/u/proj/../other", "/home/u/proj/../other"),
        ] {
            assert_eq!(mapped(word), expected, "{word}");
        }
        // A link to the sources counts as the sources.
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("code")).unwrap();
        std::os::unix::fs::symlink("code", folder.path().join("link")).unwrap();
        let root = folder.path().join("code").canonicalize().unwrap();
        let place = SourcesPlace { root, file: "k.hip".into(), directory: PathBuf::new() };
        let word = folder.path().join("link/check.sh").to_string_lossy().into_owned();
        assert_eq!(place.mapped(&word, Path::new("/lab/c1")), "/lab/c1/check.sh");
    }
}

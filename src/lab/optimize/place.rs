//! The folder that is copied for each candidate, and where commands run in a copy.

use std::path::{Component, Path, PathBuf};

use super::error::OptimizeError;

/// What stands for the folder of a copy in commands.
const FOLDER: &str = "{dir}";

/// The sources as they are.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// What is copied: an absolute path without links.
    pub root: PathBuf,
    /// The source file, below the root.
    pub file: PathBuf,
    /// Where commands run, below the root.
    pub directory: PathBuf,
}

impl Place {
    /// The root is the folder that is named, or the git repository around the file, or its folder. Commands run where the user is,
    /// if that is below the root, and in the root elsewhere.
    ///
    /// # Errors
    /// When the file or the root does not exist, or one is not below the other.
    pub(crate) fn find(file: &Path, root: Option<&Path>, current: &Path) -> Result<Self, OptimizeError> {
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

    /// A word of a command for a copy: `{dir}` and paths below the root lead into it.
    pub(crate) fn mapped(&self, word: &str, copy: &Path) -> String {
        let word = word.replace(FOLDER, &copy.to_string_lossy());
        let (option, path) = match word.split_once('=') {
            Some((option, path)) if path.starts_with('/') => (Some(option), path),
            _ => (None, word.as_str()),
        };
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        let below = Path::new(path).strip_prefix(&self.root).ok().filter(|below| below.components().all(is_plain));
        let Some(below) = below.filter(|_| path.starts_with('/')) else { return word };
        let mapped = copy.join(below).to_string_lossy().into_owned();
        option.map_or(mapped.clone(), |option| format!("{option}={mapped}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_sources_lead_into_the_copy() {
        let place = Place { root: "/home/u/proj".into(), file: "k.hip".into(), directory: PathBuf::new() };
        let mapped = |word: &str| place.mapped(word, Path::new("/lab/c1"));
        for (word, expected) in [
            ("/home/u/proj/app", "/lab/c1/app"),
            ("/home/u/proj", "/lab/c1/"),
            ("--out=/home/u/proj/o.bin", "--out=/lab/c1/o.bin"),
            ("{dir}/app", "/lab/c1/app"),
            ("-DX={dir}", "-DX=/lab/c1"),
            // Another folder whose name begins alike, relative paths, and paths that leave again.
            ("/home/u/project/app", "/home/u/project/app"),
            ("./app", "./app"),
            ("/home/u/proj/../other", "/home/u/proj/../other"),
        ] {
            assert_eq!(mapped(word), expected, "{word}");
        }
    }
}

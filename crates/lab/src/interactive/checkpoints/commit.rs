//! Saves files as a commit.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::error::GitError;
use super::references::{object_id, reference_of};
use super::repository::Repository;
use wavesieve_files::regular;
use wavesieve_input::TemporaryFolder;

/// Maximum characters of the subject of a commit.
const MOST_CHARACTERS: usize = 72;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    pub commit: String,
    pub reference: String,
}

impl Repository {
    /// Saves a commit of `parent`, or of HEAD, with these files as they are in the work tree; missing files are
    /// removed. Paths are relative to [`Repository::root`], or absolute. Bytes stay the same: line ends are not
    /// converted, filters do not run. HEAD, branches, the index and the work tree stay the same.
    ///
    /// # Errors
    /// When the checkpoint exists, a file cannot be saved, or git fails; then there is no reference.
    pub fn save(
        &self,
        session: &str,
        id: u64,
        parent: Option<&str>,
        files: &[PathBuf],
        summary: &str,
    ) -> Result<Saved, GitError> {
        let reference = reference_of(session, id)?;
        let exists = || GitError::Exists { reference: reference.clone() };
        if self.has(&reference)? {
            return Err(exists());
        }
        let parent = match parent {
            Some(parent) => self.commit_of(parent)?,
            None => self.head()?,
        };
        let entries = self.entries(files, parent.len())?;
        let failed = |error: anyhow::Error| GitError::failed("make a folder for the index", format!("{error:#}"));
        let folder = TemporaryFolder::new().map_err(failed)?;
        let index = folder.path().join("index");
        self.git("read the files of a commit").args(["read-tree", &parent]).index(&index).run()?;
        let update = self.git("put files into the index").args(["update-index", "--replace", "-z", "--index-info"]);
        update.index(&index).input(&entries)?.run()?;
        let tree = self.git("save the names of files").args(["write-tree"]).index(&index).line()?;
        let message = format!("wavesieve: cp-{id}: {}\n\nSession: {}\n", one_line(summary), one_line(session));
        let words = ["commit-tree", "--no-gpg-sign", "-p", &parent, "-F", "-", &tree];
        let commit = self.git("save a commit").args(words).input(message.as_bytes())?.line()?;
        let create = self.git("create a reference").args(["update-ref", "--stdin", "-z"]);
        let created = create.input(format!("create {reference}\0{commit}\0").as_bytes())?.run();
        if let Err(error) = created {
            // Another process may have created it meanwhile.
            return Err(if self.has(&reference)? { exists() } else { error });
        }
        Ok(Saved { commit, reference })
    }

    fn has(&self, reference: &str) -> Result<bool, GitError> {
        let call = self.git("look for a reference").args(["show-ref", "--verify", "--quiet", reference]).output();
        Ok(call.map_err(|error| GitError::failed("look for a reference", error))?.status.success())
    }

    pub(super) fn commit_of(&self, id: &str) -> Result<String, GitError> {
        let name = format!("{}^{{commit}}", object_id(id)?);
        self.git("read a commit").args(["rev-parse", "--verify", &name]).line()
    }

    /// Index entries of files, each terminated by a NUL.
    fn entries(&self, files: &[PathBuf], id_length: usize) -> Result<Vec<u8>, GitError> {
        let has_modes = self.has_modes()?;
        let (mut gone, mut there) = (Vec::new(), Vec::new());
        for file in files {
            let path = self.path_in_tree(file)?;
            let place = self.root().join(&path);
            match fs::symlink_metadata(&place) {
                Ok(metadata) => {
                    let id = self.save_contents(&place, &path, &metadata)?;
                    let entry = format!("{} {id}\t", mode_of(&metadata, has_modes));
                    there.extend([entry.as_bytes(), path.as_os_str().as_encoded_bytes(), b"\0"].concat());
                }
                Err(error) if error.kind() == ErrorKind::NotFound || error.kind() == ErrorKind::NotADirectory => {
                    let entry = format!("0 {}\t", "0".repeat(id_length));
                    gone.extend([entry.as_bytes(), path.as_os_str().as_encoded_bytes(), b"\0"].concat());
                }
                Err(error) => return Err(GitError::file(&path, error)),
            }
        }
        // A file may have replaced a folder whose files are gone.
        gone.extend(there);
        Ok(gone)
    }

    /// Returns whether file permissions are meaningful in this repository.
    fn has_modes(&self) -> Result<bool, GitError> {
        let words = ["config", "--type=bool", "--default=true", "core.fileMode"];
        Ok(self.git("read the settings of the repository").args(words).line()? == "true")
    }

    fn save_contents(&self, place: &Path, path: &Path, metadata: &Metadata) -> Result<String, GitError> {
        let failed = |error: std::io::Error| GitError::file(path, error);
        let hash = self.git("save a file").args(["hash-object", "-w", "--no-filters", "--stdin"]);
        if metadata.is_symlink() {
            let target = fs::read_link(place).map_err(failed)?;
            return hash.input(target.as_os_str().as_encoded_bytes())?.line();
        }
        if !metadata.is_file() {
            return Err(GitError::file(path, "it is not a regular file"));
        }
        hash.stdin(regular::open(place).map_err(failed)?).line()
    }

    fn path_in_tree(&self, file: &Path) -> Result<PathBuf, GitError> {
        let refused = |reason: &str| Err(GitError::file(file, reason));
        let relative = if file.is_absolute() {
            let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
            let place = folder.zip(file.file_name()).map(|(folder, name)| folder.join(name));
            let root = self.root().canonicalize().unwrap_or_else(|_| self.root().to_owned());
            let inside = |place: &Path| {
                place.strip_prefix(&root).or_else(|_| place.strip_prefix(self.root())).ok().map(Path::to_owned)
            };
            match place.as_deref().and_then(inside).or_else(|| inside(file)) {
                Some(inside) => inside,
                None => return refused("it is outside the repository"),
            }
        } else {
            file.to_owned()
        };
        let mut path = PathBuf::new();
        for component in relative.components() {
            match component {
                Component::Normal(name) if name.eq_ignore_ascii_case(".git") => return refused("it belongs to git"),
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                _ => return refused("its path has `..`"),
            }
        }
        if path.as_os_str().is_empty() {
            return refused("it is the repository itself");
        }
        for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            let place = self.root().join(folder);
            if place.is_symlink() {
                return refused("a link leads to it");
            }
            if place.join(".git").symlink_metadata().is_ok() {
                return refused("it is in another repository, such as a submodule");
            }
        }
        Ok(path)
    }
}

fn mode_of(metadata: &Metadata, has_modes: bool) -> &'static str {
    use std::os::unix::fs::PermissionsExt;
    match metadata {
        metadata if metadata.is_symlink() => "120000",
        metadata if has_modes && metadata.permissions().mode() & 0o100 != 0 => "100755",
        _ => "100644",
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(|sign: char| sign.is_whitespace() || sign.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => line.split_at_checked(end).map_or_else(String::new, |(start, _)| format!("{start}…")),
        None if line.is_empty() => "no summary".to_owned(),
        None => line,
    }
}

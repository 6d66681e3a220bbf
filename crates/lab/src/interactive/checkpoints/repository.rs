//! The repository around the source folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::{GitError, NoRepository};
use super::git::{Git, reason_of};

/// The work tree of a git repository with at least one commit. Only references below `refs/wavesieve/` and the objects
/// that they need are written.
#[derive(Clone, Debug)]
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// Opens the innermost repository of a file or folder: inside a submodule it is the submodule.
    ///
    /// # Errors
    /// When checkpoints are not possible.
    pub fn open(source: &Path) -> Result<Self, NoRepository> {
        let folder = if source.is_file() { source.parent().unwrap_or(source) } else { source };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let call = |words: &[&str]| {
            let output = Git::new(folder, "open the repository").args(words).output();
            output.map_err(|error| match error.kind() {
                ErrorKind::NotFound => NoRepository::NoGit,
                _ => NoRepository::Failed(error.to_string()),
            })
        };
        let kind = call(&["rev-parse", "--is-bare-repository", "--is-inside-work-tree"])?;
        if !kind.status.success() {
            let reason = reason_of(&kind);
            let is_outside = reason.starts_with("not a git repository");
            return Err(if is_outside { NoRepository::NotAWorkTree } else { NoRepository::Failed(reason) });
        }
        match String::from_utf8_lossy(&kind.stdout).split_whitespace().collect::<Vec<_>>().as_slice() {
            [_, "true"] => {}
            ["true", _] => return Err(NoRepository::Bare),
            _ => return Err(NoRepository::NotAWorkTree),
        }
        let top = call(&["rev-parse", "--show-toplevel"])?;
        if !top.status.success() {
            return Err(NoRepository::Failed(reason_of(&top)));
        }
        let root = path_of(top.stdout.strip_suffix(b"\n").unwrap_or(&top.stdout));
        if call(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])?.status.success() {
            return Ok(Self { root });
        }
        let head = call(&["rev-parse", "--quiet", "--verify", "HEAD"])?;
        Err(if head.status.success() {
            let name = String::from_utf8_lossy(&head.stdout).trim().to_owned();
            NoRepository::Failed(format!("its HEAD is {name}, which cannot be read"))
        } else {
            NoRepository::NoCommit
        })
    }

    /// The top of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The commit of HEAD.
    ///
    /// # Errors
    /// When git cannot read it.
    pub fn head(&self) -> Result<String, GitError> {
        self.git("read HEAD").args(["rev-parse", "--verify", "HEAD^{commit}"]).line()
    }

    pub(super) fn git(&self, task: &'static str) -> Git {
        Git::new(&self.root, task)
    }
}

pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

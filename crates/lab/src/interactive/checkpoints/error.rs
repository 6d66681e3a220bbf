//! Reasons why checkpoints, or a single checkpoint, are not available.

use std::path::Path;

use thiserror::Error;

use wavesieve_model::text::hidden::escape_hidden;

/// Reasons why a folder has no checkpoints. A session continues without them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoRepository {
    #[error("the source folder is in no git repository; run `git init` and commit once to have checkpoints")]
    NotAWorkTree,
    #[error("the git repository has no commit yet; commit once to have checkpoints")]
    NoCommit,
    #[error("the git repository is bare, without a work tree; name a folder of a clone with --source-dir")]
    Bare,
    #[error("git is not on PATH; install it to have checkpoints")]
    NoGit,
    #[error("git cannot use the repository ({0}); repair it to have checkpoints")]
    Failed(String),
}

/// Reasons why something could not be saved, read or removed. References are then unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GitError {
    #[error("cannot {task}: {reason}; run `git fsck` if this stays so")]
    Failed { task: String, reason: String },
    #[error("cannot save {path} in a checkpoint: {reason}; name a file of the work tree")]
    File { path: String, reason: String },
    #[error("checkpoint {reference} exists; use the next number")]
    Exists { reference: String },
    #[error("`{name}` cannot name a commit; give its whole id")]
    NotACommit { name: String },
    #[error("a session without a name has no checkpoints; give its id")]
    NoSession,
}

impl GitError {
    pub(super) fn failed(task: &str, reason: impl ToString) -> Self {
        Self::Failed { task: task.to_owned(), reason: escape_hidden(&reason.to_string()).into_owned() }
    }

    pub(super) fn file(path: &Path, reason: impl ToString) -> Self {
        Self::File { path: escape_hidden(&path.to_string_lossy()).into_owned(), reason: reason.to_string() }
    }
}

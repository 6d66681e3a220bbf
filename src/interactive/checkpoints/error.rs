//! Why there are no checkpoints, or not this one.

use thiserror::Error;

/// Why a folder has no checkpoints. A session goes on without them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum NoRepository {
    #[error("the source folder is in no git repository; run `git init` and commit once to have checkpoints")]
    NotAWorkTree,
    #[error("the git repository has no commit yet; commit once to have checkpoints")]
    NoCommit,
    #[error("the git repository is a bare one, without a work tree; name a folder of a clone with --source-dir")]
    Bare,
    #[error("git is not installed or not on PATH; install it to have checkpoints")]
    NoGit,
    #[error("git cannot open the repository: {0}")]
    Failed(String),
}

/// Why a call of git failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum GitError {
    /// What was tried, and what git printed.
    #[error("cannot {task}: {reason}")]
    Failed { task: String, reason: String },
}

//! Checkpoints of source files: commits below `refs/wavesieve/`, outside of all branches, the index and the work tree.

mod commit;
mod error;
mod export;
mod git;
mod listing;
mod reading;
mod references;
mod repository;
#[cfg(test)]
mod tests;

pub use error::GitError;
pub use git::{Git, reason_of};
pub use listing::Checkpoint;
pub use repository::Repository;

//! Checkpoints of source files as commits that no branch, index or work tree knows of.

// Until the machine uses it.
#![allow(dead_code, unused_imports)]

mod error;
mod repository;

pub(crate) use error::{GitError, NoRepository};
pub(crate) use repository::{Checkpoint, Repository, Saved};

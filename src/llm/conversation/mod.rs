//! Questions that build on one another, and the file that keeps them.

mod archive;
mod file;
mod parts;
mod state;
mod summary;

pub(crate) use parts::parts;
pub(crate) use state::{Conversation, Turn};
pub(crate) use summary::summary;

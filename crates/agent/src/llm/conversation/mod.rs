//! Questions that build on one another, and the file that stores them.

mod archive;
mod file;
mod parts;
mod state;
mod summary;

pub use parts::parts;
pub(crate) use state::Conversation;
pub use state::Turn;
pub use summary::summary;

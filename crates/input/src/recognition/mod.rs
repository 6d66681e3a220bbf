//! Finds files and recognizes what they hold.

pub mod head;
pub mod unread_content;

pub mod captures;
pub mod content;
pub mod discover;
pub mod format;
pub mod formats;
pub(crate) mod index_file;
pub mod naming;
pub mod skipped;

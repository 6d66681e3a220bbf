//! Documents as folders: a file for each table, and the document itself.

mod index;
mod replace;
mod write;

pub(crate) use replace::{Place, place};
pub(crate) use write::{FolderFormat, FolderOptions, write};

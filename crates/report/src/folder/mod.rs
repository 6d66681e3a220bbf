//! Documents as folders: a file for each table, and the document itself.

mod index;
mod replace;
mod write;

pub use replace::{FolderPlace, place};
pub use write::{FolderFormat, FolderOptions, write};

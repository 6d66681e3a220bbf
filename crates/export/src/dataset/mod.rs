//! A dataset: the row groups of all processes put into the files that they share, and what describes them.

mod companions;
mod groups;
mod pack;
mod part;
mod write;

pub(crate) use companions::COMPANIONS;
pub use pack::PACK_BYTES;
pub use write::write_dataset;
pub use write::{About, Kept, Layout, RowsPlace, companions, manifest, write, write_files};

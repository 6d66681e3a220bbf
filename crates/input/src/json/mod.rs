//! Parts that readers of JSON share: random access to the text of a plain or compressed file, and searches in its words.

mod inflate;
mod text_file;
pub mod words;

pub(crate) use text_file::PADDING;
pub(crate) use text_file::{GZIP_MAGIC, Spool, TextFile, decompressed_head};

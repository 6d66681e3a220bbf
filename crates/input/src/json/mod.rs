//! Parts that readers of JSON share: the text of a file, plain or compressed, that can be read anywhere, and words of it.

mod inflate;
mod text_file;
pub mod words;

pub(crate) use text_file::PADDING;
pub(crate) use text_file::{GZIP_MAGIC, Spool, TextFile, decompressed_head};

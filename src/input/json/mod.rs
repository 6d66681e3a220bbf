//! What readers of JSON share: the text of a file, plain or compressed, that can be read anywhere.

mod inflate;
mod text_file;

#[cfg(any(test, feature = "properties"))]
pub(crate) use text_file::PADDING;
pub(crate) use text_file::{GZIP_MAGIC, Spool, TextFile, decompressed_head};

//! Opens a file for reading from its start, decompressed where it has to be.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use anyhow::{Context, Result};
use csv::{Reader, ReaderBuilder};
use flate2::read::MultiGzDecoder;

use crate::input::rocprofv3_json::GZIP_MAGIC;

const BUFFER_BYTES: usize = 1 << 18;

/// The records of a file, the header as the first.
pub type Records = Reader<Box<dyn Read>>;

/// Opens a file.
///
/// # Errors
/// When it cannot be opened.
pub fn open(path: &Path) -> Result<Records> {
    let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut head = Vec::new();
    file.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut head)?;
    let is_compressed = head == GZIP_MAGIC;
    let whole = Cursor::new(head).chain(file);
    let content: Box<dyn Read> = if is_compressed {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, whole)))
    } else {
        Box::new(whole)
    };
    Ok(ReaderBuilder::new().has_headers(false).flexible(true).buffer_capacity(BUFFER_BYTES).from_reader(content))
}

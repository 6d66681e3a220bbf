//! Opens a file for reading from its start, decompressed if necessary.

use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use csv::{ByteRecord, Reader, ReaderBuilder};

use super::super::gzip::GzipText;
use super::torn::LastLine;
use crate::json::GZIP_MAGIC;
use wavesieve_files::regular;

const BUFFER_BYTES: usize = 1 << 18;

/// The path of a file, and its name for messages.
#[derive(Clone, Debug)]
pub(crate) struct CsvFile {
    pub path: PathBuf,
    /// Path as given or found, for messages.
    pub shown: String,
}

/// The records of a file; the first is the header.
pub type Records = Reader<LastLine>;

/// The header of a file, and the records after it.
pub fn start(file: &CsvFile) -> Result<(ByteRecord, Records)> {
    let mut records = open(&file.path)?;
    let mut header = ByteRecord::new();
    records.read_byte_record(&mut header)?;
    Ok((header, records))
}

/// The header in the first bytes of a file; `None` if they have none.
pub(crate) fn header_in(bytes: &[u8]) -> Option<ByteRecord> {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut header = ByteRecord::new();
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line);
    reader.read_byte_record(&mut header).unwrap_or(false).then_some(header)
}

fn open(path: &Path) -> Result<Records> {
    let content = LastLine::new(content(path)?);
    Ok(ReaderBuilder::new().has_headers(false).flexible(true).buffer_capacity(BUFFER_BYTES).from_reader(content))
}

/// The bytes of a file, decompressed.
fn content(path: &Path) -> Result<Box<dyn Read>> {
    let mut file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut head = Vec::new();
    file.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut head)?;
    let is_compressed = head == GZIP_MAGIC;
    let whole = Cursor::new(head).chain(file);
    Ok(if is_compressed {
        Box::new(GzipText::new(BufReader::with_capacity(BUFFER_BYTES, whole)))
    } else {
        Box::new(whole)
    })
}

/// The line number of the first text at or after a position. The line numbers of the record reader are wrong after empty lines and line
/// ends of two characters, because it counts line ends before a record to the previous record.
pub(crate) fn line_at(path: &Path, place: u64) -> Result<u64> {
    let mut bytes = BufReader::with_capacity(BUFFER_BYTES, content(path)?).bytes();
    let mut line = 1;
    for _ in 0..place {
        line += u64::from(bytes.next().transpose()? == Some(b'\n'));
    }
    while let Some(byte @ (b'\n' | b'\r')) = bytes.next().transpose()? {
        line += u64::from(byte == b'\n');
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::line_at;

    #[test]
    fn lines() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        std::fs::write(&path, "a\r\nb\n\n\nc").unwrap();
        let lines: Vec<u64> = [0, 2, 3, 4, 5, 8].into_iter().map(|place| line_at(&path, place).unwrap()).collect();
        assert_eq!(lines, [1, 2, 2, 5, 5, 5]);
    }
}

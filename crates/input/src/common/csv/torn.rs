//! Rows that are torn by a lost block or an early end of the file, although they have the right number of fields.

use std::io::{self, Read};

use csv::ByteRecord;

use super::file::Records;

/// Maximum length of a last line that is kept.
const LONGEST_LINE: usize = 1 << 20;
/// Maximum length of a line of a table. A longer line means a file of zeros, or not a text file.
const MAX_LINE: u64 = 1 << 26;

/// Text that remembers its last line if no line end follows it.
pub(crate) struct LastLine {
    inner: Box<dyn Read>,
    line: Vec<u8>,
    /// Whether the text was read to its end. A row that ends with a line end is returned before that.
    is_at_end: bool,
    /// Whether the number of quotes so far is odd.
    is_in_quotes: bool,
    /// Bytes since the last line end.
    length: u64,
}

impl LastLine {
    pub fn new(inner: Box<dyn Read>) -> Self {
        Self { inner, line: Vec::new(), is_at_end: false, is_in_quotes: false, length: 0 }
    }
}

impl Read for LastLine {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.is_at_end |= count == 0 && !buffer.is_empty();
        let mut read = buffer.get(..count).unwrap_or_default();
        self.is_in_quotes ^= memchr::memchr_iter(b'"', read).count() % 2 == 1;
        if let Some(end) = memchr::memrchr(b'\n', read) {
            self.line.clear();
            self.length = 0;
            read = read.get(end + 1..).unwrap_or_default();
        }
        if self.line.len() < LONGEST_LINE {
            self.line.extend_from_slice(read);
        }
        self.length = self.length.saturating_add(read.len() as u64);
        if self.length > MAX_LINE {
            let reason = format!("a line is longer than {} MiB; this is not a table", MAX_LINE >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(count)
    }
}

const UNCLOSED: &str = "the file ends within a quoted text";

fn ends_in_quotes(line: &[u8]) -> bool {
    line.iter().filter(|byte| **byte == b'"').count() % 2 == 1
}

/// Damage at the end of a file after its last row: the reader does not return a lone quote as a row.
pub(crate) fn torn_end(records: &Records) -> Option<&'static str> {
    let line = &records.get_ref().line;
    (line.trim_ascii() == b"\"").then_some(UNCLOSED)
}

/// Finds torn rows among the rows of a file. It gets the rows in order.
#[derive(Default)]
pub(crate) struct TornRows {
    /// Length of the last field of the previous row.
    before: Option<usize>,
}

impl TornRows {
    /// The reason why a row is torn, if it is.
    pub fn find(&mut self, record: &ByteRecord, records: &Records) -> Option<&'static str> {
        if memchr::memchr(0, record.as_slice()).is_some() {
            return Some("text is overwritten by zeros");
        }
        let last = record.iter().next_back().unwrap_or_default();
        let before = self.before.replace(last.len());
        // Only a row that ends with the file can be torn.
        if !records.get_ref().is_at_end {
            return None;
        }
        let line = &records.get_ref().line;
        // An unclosed quote in the last field makes all later rows part of its text.
        let is_swallowed = records.get_ref().is_in_quotes && last.contains(&b'\n');
        if is_swallowed || ends_in_quotes(line) {
            return Some(UNCLOSED);
        }
        let is_number = !last.is_empty() && last.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
        let is_shorter = before.is_some_and(|before| last.len() < before);
        (!line.is_empty() && is_shorter && (is_number || last.is_empty()))
            .then_some("the file ends within its last number")
    }
}

//! Files of chunks. All chunks but the last have one size, and no record crosses a chunk.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// The start of every chunk and of the anchor: its marker, and little endian.
const HEAD: [u8; 2] = [3, 0x42];
/// The end of a file: no record follows, and the buffer ends.
const END: [u8; 2] = [2, 1];
/// Bytes of a chunk that are not records: its head with the numbers of its first and last event, and room for the end.
const HEADER: usize = 18;
const SPARE: usize = 11;

/// A file of chunks. It is open only while a chunk is written: there may be more tracks than files that can be open.
pub(super) struct Chunks {
    path: PathBuf,
    written: u64,
    size: usize,
    chunk: Vec<u8>,
    /// Numbers of the first and the last event of the chunk, from 1.
    first: u64,
    next: u64,
    /// Definitions are not numbered.
    is_numbered: bool,
}

impl Chunks {
    pub(super) fn create(path: &Path, size: usize, is_numbered: bool) -> Result<Self> {
        File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path: path.to_owned(), written: 0, size, chunk: vec![0; HEADER], first: 1, next: 1, is_numbered })
    }

    /// Starts another chunk if these bytes do not fit. Returns whether it did.
    ///
    /// # Errors
    /// When they fit into no chunk, or the file cannot be written.
    pub(super) fn makes_room(&mut self, bytes: usize) -> Result<bool> {
        let limit = self.size - HEADER - SPARE;
        ensure!(bytes <= limit, "a record of {bytes} bytes is too large for OTF2 (limit {limit} bytes)");
        if self.chunk.len() + bytes + SPARE <= self.size {
            return Ok(false);
        }
        self.write(self.size)?;
        Ok(true)
    }

    /// Appends bytes for which there is room, and counts their `events`.
    pub(super) fn add(&mut self, bytes: &[u8], events: u64) {
        self.chunk.extend_from_slice(bytes);
        self.next += events;
    }

    /// Events so far.
    pub(super) fn events(&self) -> u64 {
        self.next - 1
    }

    fn write(&mut self, length: usize) -> Result<()> {
        let last = if self.is_numbered { self.next - 1 } else { 0 };
        let head = [&HEAD[..], &self.first.to_le_bytes(), &last.to_le_bytes()].concat();
        self.chunk.iter_mut().zip(&head).for_each(|(to, from)| *to = *from);
        self.chunk.resize(length, 0);
        let append = || OpenOptions::new().append(true).open(&self.path)?.write_all(&self.chunk);
        append().with_context(|| format!("cannot write {}", self.path.display()))?;
        self.written += length as u64;
        self.chunk.clear();
        self.chunk.resize(HEADER, 0);
        if self.is_numbered {
            self.first = self.next;
        }
        Ok(())
    }

    /// Writes the rest, and returns the bytes of the file.
    pub(super) fn close(mut self) -> Result<u64> {
        self.chunk.extend_from_slice(&END);
        let length = self.chunk.len();
        self.write(length)?;
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_larger_than_a_chunk_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let mut chunks = Chunks::create(&directory.path().join("a.def"), 64, false).unwrap();
        let largest = 64 - HEADER - SPARE;
        assert!(chunks.makes_room(largest + 1).is_err());
        assert!(!chunks.makes_room(largest).unwrap());
        chunks.add(&vec![1; largest], 0);
        assert!(chunks.makes_room(1).unwrap());
        assert_eq!(chunks.close().unwrap(), 64 + (HEADER + END.len()) as u64);
    }
}

//! Storage of the bytes of a region.

use serde::{Deserialize, Serialize};

use super::hash::Hash;

/// Bytes of a chunk, which is read, hashed and compressed separately: they stay in the cache of a processor.
pub const CHUNK_BYTES: u64 = 1 << 20;
/// Plausible chunk sizes.
const LEAST_CHUNK: u64 = 4096;
const MOST_CHUNK: u64 = 1 << 26;
/// Maximum bytes of chunks that are processed at the same time.
const AT_ONCE: u64 = 1 << 28;
/// Buffers per chunk; the packed buffer counts twice, as it may be twice as large.
const BUFFERS: u64 = 4;

/// Whether bytes are compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Each byte at its offset, as in rocm-perf-lab and kerncap. Chunks of zeros may be holes in the file.
    #[default]
    Plain,
    /// Chunks one after the other, a frame of zstd each; chunks of zeros have no frame.
    Zstd,
}

/// The file of a region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// Relative to the capture.
    pub file: String,
    pub encoding: Encoding,
    /// Bytes of each chunk but the last.
    pub chunk_bytes: u64,
    pub chunks: Vec<Chunk>,
}

/// A chunk: its bytes in the file (0: all zeros, nothing to read), and the hash of its bytes in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk(pub u64, pub Hash);

/// Number of threads that may work on chunks of a size, so that memory stays limited.
pub(super) fn threads_for(chunk_bytes: u64, threads: usize) -> usize {
    let most = AT_ONCE / chunk_bytes.saturating_mul(BUFFERS).max(1);
    threads.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
}

impl Blob {
    /// The contradiction in a blob for a region of a size, if there is one.
    pub(super) fn impossibility(&self, size: u64) -> Option<String> {
        let named = |what: &str| Some(format!("the blob `{}` {what}", self.file));
        if !(LEAST_CHUNK..=MOST_CHUNK).contains(&self.chunk_bytes) {
            return named(&format!("has chunks of {} bytes", self.chunk_bytes));
        }
        if u64::try_from(self.chunks.len()) != Ok(size.div_ceil(self.chunk_bytes)) {
            return named(&format!("has {} chunks for {size} bytes", self.chunks.len()));
        }
        let most = match self.encoding {
            Encoding::Plain => self.chunk_bytes,
            Encoding::Zstd => self.chunk_bytes * 2,
        };
        if self.chunks.iter().any(|chunk| chunk.0 > most) {
            return named("has a chunk that is larger than its bytes");
        }
        None
    }

    /// Bytes of the whole file.
    pub(super) fn file_bytes(&self, size: u64) -> u64 {
        match self.encoding {
            Encoding::Plain => size,
            Encoding::Zstd => self.chunks.iter().map(|chunk| chunk.0).sum(),
        }
    }
}

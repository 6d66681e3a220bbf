//! Writes the bytes of regions in parallel.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

use super::blob::{Blob, CHUNK_BYTES, Chunk, Encoding};
use super::error::CaptureError;
use super::hash::Hash;
use super::names::region_file;

/// Compression that keeps up with copies: 1 is the fastest of zstd's levels with a table.
const LEVEL: i32 = 1;

/// Options for the storage of regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobOptions {
    pub encoding: Encoding,
    pub threads: usize,
}

/// Copies bytes of a region from an offset into a buffer, wherever they are.
type CopyOut<'a> = dyn Fn(u64, &mut [u8]) -> Result<(), String> + Sync + 'a;

/// Writes the region at a base address into `memory/` of a capture, chunk by chunk. At most one chunk per thread is in memory. Chunks of
/// zeros become holes, or nothing. A region that cannot be copied leaves no file.
pub fn write_blob(
    directory: &Path,
    base: u64,
    size: u64,
    options: BlobOptions,
    copy: &CopyOut<'_>,
) -> Result<Blob, CaptureError> {
    let file = match options.encoding {
        Encoding::Plain => region_file(base),
        Encoding::Zstd => format!("{}.zst", region_file(base)),
    };
    let path = directory.join(&file);
    let written =
        File::create(&path).map_err(Reason::Io).and_then(|created| write_chunks(&created, size, options, copy));
    match written {
        Ok(chunks) => Ok(Blob { file, encoding: options.encoding, chunk_bytes: CHUNK_BYTES, chunks }),
        Err(reason) => {
            let _ = std::fs::remove_file(&path);
            Err(match reason {
                Reason::Io(error) => CaptureError::Io { path, error },
                Reason::Memory(reason) => CaptureError::Memory { path, reason },
            })
        }
    }
}

/// Reason why a region is not written.
enum Reason {
    Io(io::Error),
    Memory(String),
}

/// State that the workers share: chunks are taken in order, and compressed chunks are written in order.
struct Shared {
    /// The next chunk to take.
    next: AtomicU64,
    is_over: AtomicBool,
    written: Mutex<Written>,
    turn: Condvar,
}

#[derive(Default)]
struct Written {
    /// Chunks in order, up to the first that is not written yet.
    chunks: Vec<Chunk>,
    /// Chunks that were written before their turn.
    early: BTreeMap<u64, Chunk>,
    /// Bytes of the file.
    bytes: u64,
    failure: Option<Reason>,
}

fn write_chunks(file: &File, size: u64, options: BlobOptions, copy: &CopyOut<'_>) -> Result<Vec<Chunk>, Reason> {
    let count = size.div_ceil(CHUNK_BYTES);
    let shared = Shared {
        next: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
        written: Mutex::default(),
        turn: Condvar::new(),
    };
    let zeros = vec![0; usize::try_from(CHUNK_BYTES).unwrap_or_default()];
    let work = || {
        let mut bytes = Vec::new();
        while !shared.is_over.load(Ordering::Relaxed) {
            let number = shared.next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let begin = number * CHUNK_BYTES;
            bytes.resize(usize::try_from(CHUNK_BYTES.min(size - begin)).unwrap_or_default(), 0);
            let done = copy(begin, &mut bytes).map_err(Reason::Memory).and_then(|()| {
                let is_zero = zeros.get(..bytes.len()) == Some(bytes.as_slice());
                keep_chunk(file, &shared, number, &bytes, is_zero, options.encoding)
            });
            if let Err(reason) = done {
                shared.fail(reason);
            }
        }
    };
    let threads = u64::try_from(options.threads).unwrap_or(u64::MAX).clamp(1, count.max(1));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let written = shared.written.into_inner().unwrap_or_default();
    if let Some(reason) = written.failure {
        return Err(reason);
    }
    if u64::try_from(written.chunks.len()) != Ok(count) {
        return Err(Reason::Memory("copying it did not end".to_owned()));
    }
    if options.encoding == Encoding::Plain {
        file.set_len(size).map_err(Reason::Io)?;
    }
    Ok(written.chunks)
}

/// Writes a chunk and notes it.
fn keep_chunk(
    file: &File,
    shared: &Shared,
    number: u64,
    bytes: &[u8],
    is_zero: bool,
    encoding: Encoding,
) -> Result<(), Reason> {
    let hash = Hash::from_bytes(bytes);
    if encoding == Encoding::Plain {
        if !is_zero {
            file.write_all_at(bytes, number * CHUNK_BYTES).map_err(Reason::Io)?;
        }
        shared.note(number, Chunk(if is_zero { 0 } else { bytes.len() as u64 }, hash));
        return Ok(());
    }
    let packed = if is_zero { Vec::new() } else { zstd::bulk::compress(bytes, LEVEL).map_err(Reason::Io)? };
    let Some(at) = shared.wait_for_turn(number, packed.len() as u64) else { return Ok(()) };
    file.write_all_at(&packed, at).map_err(Reason::Io)?;
    shared.note(number, Chunk(packed.len() as u64, hash));
    Ok(())
}

impl Shared {
    /// Notes a chunk that is written.
    fn note(&self, number: u64, chunk: Chunk) {
        if let Ok(mut written) = self.written.lock() {
            written.early.insert(number, chunk);
            while let Some(chunk) =
                u64::try_from(written.chunks.len()).ok().and_then(|next| written.early.remove(&next))
            {
                written.chunks.push(chunk);
            }
        }
        self.turn.notify_all();
    }

    /// Waits for all chunks before a chunk, and returns the offset of its bytes; `None` if another chunk failed.
    fn wait_for_turn(&self, number: u64, bytes: u64) -> Option<u64> {
        let mut written = self.written.lock().ok()?;
        while u64::try_from(written.chunks.len()) != Ok(number) {
            if self.is_over.load(Ordering::Relaxed) {
                return None;
            }
            written = self.turn.wait(written).ok()?;
        }
        let at = written.bytes;
        written.bytes += bytes;
        Some(at)
    }

    /// Stops all workers.
    fn fail(&self, reason: Reason) {
        if let Ok(mut written) = self.written.lock() {
            self.is_over.store(true, Ordering::Relaxed);
            written.failure.get_or_insert(reason);
        }
        self.turn.notify_all();
    }
}

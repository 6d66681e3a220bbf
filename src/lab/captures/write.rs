//! Writing the bytes of regions, in parallel.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::blob::{Blob, CHUNK_BYTES, Chunk, Encoding};
use super::error::CaptureError;
use super::hash::Hash;
use super::names::region_file;

/// Compression that keeps up with copies: 1 is the fastest of zstd's levels with a table.
const LEVEL: i32 = 1;

/// How regions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobOptions {
    pub encoding: Encoding,
    pub threads: usize,
}

/// Copies bytes of a region from an offset into a buffer, wherever they are.
type CopyOut<'a> = dyn Fn(u64, &mut [u8]) -> Result<(), String> + Sync + 'a;

/// Writes the region of a base into `memory/` of a capture, chunk by chunk: never more than one chunk a thread is held. Chunks
/// of zeros become holes, or nothing. A region that cannot be copied leaves no file.
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

/// Why a region is not written.
enum Reason {
    Io(io::Error),
    Memory(String),
}

/// A chunk that was copied.
struct Copied {
    bytes: Vec<u8>,
    packed: Vec<u8>,
    /// Bytes of `bytes` that are of the region.
    length: usize,
    chunk: Chunk,
}

fn write_chunks(file: &File, size: u64, options: BlobOptions, copy: &CopyOut<'_>) -> Result<Vec<Chunk>, Reason> {
    let zeros = vec![0; usize::try_from(CHUNK_BYTES).unwrap_or_default()];
    let threads = options.threads.clamp(1, usize::try_from(size.div_ceil(CHUNK_BYTES)).unwrap_or(1).max(1));
    let mut rooms: Vec<Copied> = (0..threads)
        .map(|_| Copied { bytes: Vec::new(), packed: Vec::new(), length: 0, chunk: Chunk(0, Hash(0)) })
        .collect();
    let mut chunks = Vec::new();
    let mut at = 0;
    let mut offset = 0;
    while offset < size {
        let mut begins = Vec::new();
        for _ in 0..threads {
            if offset < size {
                begins.push(offset);
                offset += CHUNK_BYTES;
            }
        }
        let step = |room: &mut Copied, begin: u64| copy_chunk(room, begin, size, file, options.encoding, &zeros, copy);
        if let ([room], [begin]) = (rooms.as_mut_slice(), begins.as_slice()) {
            step(room, *begin)?;
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> = (rooms.iter_mut().zip(&begins))
                    .map(|(room, begin)| scope.spawn(move || step(room, *begin)))
                    .collect();
                let ends = workers.into_iter().map(|worker| {
                    worker.join().unwrap_or_else(|_| Err(Reason::Memory("copying it panicked".to_owned())))
                });
                ends.collect::<Vec<_>>().into_iter().collect::<Result<Vec<()>, Reason>>()
            })?;
        }
        for (room, _) in rooms.iter().zip(&begins) {
            if options.encoding == Encoding::Zstd {
                file.write_all_at(&room.packed, at).map_err(Reason::Io)?;
                at += room.packed.len() as u64;
            }
            chunks.push(room.chunk);
        }
    }
    if options.encoding == Encoding::Plain {
        file.set_len(size).map_err(Reason::Io)?;
    }
    Ok(chunks)
}

fn copy_chunk(
    room: &mut Copied,
    begin: u64,
    size: u64,
    file: &File,
    encoding: Encoding,
    zeros: &[u8],
    copy: &CopyOut<'_>,
) -> Result<(), Reason> {
    room.length = usize::try_from(CHUNK_BYTES.min(size - begin)).unwrap_or_default();
    room.bytes.resize(room.length, 0);
    room.packed.clear();
    copy(begin, &mut room.bytes).map_err(Reason::Memory)?;
    let hash = Hash::from_bytes(&room.bytes);
    if zeros.get(..room.length) == Some(room.bytes.as_slice()) {
        room.chunk = Chunk(0, hash);
        return Ok(());
    }
    match encoding {
        Encoding::Plain => file.write_all_at(&room.bytes, begin).map_err(Reason::Io)?,
        Encoding::Zstd => room.packed = zstd::bulk::compress(&room.bytes, LEVEL).map_err(Reason::Io)?,
    }
    let stored = match encoding {
        Encoding::Plain => room.length,
        Encoding::Zstd => room.packed.len(),
    };
    room.chunk = Chunk(stored as u64, hash);
    Ok(())
}

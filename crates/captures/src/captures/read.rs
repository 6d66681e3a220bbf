//! Reads the bytes of regions in parallel.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::blob::{CHUNK_BYTES, Chunk, Encoding, threads_for};
use super::error::CaptureError;
use super::files::inside;
use super::regions::Region;
use wavesieve_files::regular;

/// Whether hashes are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Yes: each chunk is read into a small buffer in the processor cache, and copied to its target only if its hash matches.
    Hashes,
    /// No: chunks that are not compressed are read directly into their target.
    Nothing,
}

/// The bytes of a region, in chunks.
#[derive(Debug, Clone)]
pub struct StoredBlob {
    path: PathBuf,
    encoding: Encoding,
    size: u64,
    chunk_bytes: u64,
    /// The start of each chunk in the file, its bytes there, and its hash; `None` in captures by other programs.
    chunks: Option<Vec<(u64, Chunk)>>,
}

impl StoredBlob {
    /// Finds the file of a region and compares its length.
    pub fn open(directory: &Path, region: &Region) -> Result<Self, CaptureError> {
        let name = region.file();
        let impossible = |reason| CaptureError::Impossible { path: directory.join(super::names::REGIONS), reason };
        let path = inside(directory, &name)
            .ok_or_else(|| impossible(format!("the file `{name}` is outside of the capture")))?;
        if let Some(reason) = region.blob.as_ref().and_then(|blob| blob.impossibility(region.size)) {
            return Err(impossible(reason));
        }
        let found = match std::fs::metadata(&path) {
            Ok(information) if information.is_file() => information.len(),
            Ok(_) => return Err(CaptureError::Impossible { path, reason: "it is not a file".to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(CaptureError::NoFile { path }),
            Err(error) => return Err(CaptureError::Io { path, error }),
        };
        let recorded = region.blob.as_ref().map_or(region.size, |blob| blob.file_bytes(region.size));
        if found != recorded {
            return Err(CaptureError::WrongLength { path, found, recorded });
        }
        let encoding = region.blob.as_ref().map(|blob| blob.encoding).unwrap_or_default();
        let chunk_bytes = region.blob.as_ref().map_or(CHUNK_BYTES, |blob| blob.chunk_bytes);
        let chunks = region.blob.as_ref().map(|blob| {
            let mut at = 0;
            let begins = blob.chunks.iter().map(|chunk| {
                let begin = at;
                at += match encoding {
                    Encoding::Plain => chunk_bytes,
                    Encoding::Zstd => chunk.0,
                };
                (begin, *chunk)
            });
            begins.collect()
        });
        Ok(Self { path, encoding, size: region.size, chunk_bytes, chunks })
    }

    /// Bytes in memory.
    pub fn size(&self) -> u64 {
        self.size
    }

    fn ranges(&self) -> impl Iterator<Item = (u64, usize)> + '_ {
        let ranges = (0..self.size.div_ceil(self.chunk_bytes)).map(|number| number * self.chunk_bytes);
        ranges.map(|begin| (begin, usize::try_from(self.chunk_bytes.min(self.size - begin)).unwrap_or(usize::MAX)))
    }

    /// Reads the chunk at an offset, which is as long as the target.
    fn read_chunk(&self, offset: u64, target: &mut [u8], rooms: &mut Rooms, check: Check) -> Result<(), CaptureError> {
        let number = usize::try_from(offset / self.chunk_bytes).unwrap_or(usize::MAX);
        let chunk = self.chunks.as_ref().and_then(|chunks| chunks.get(number)).copied();
        let wrong_hash = || CaptureError::WrongHash { path: self.path.clone(), offset };
        let Some((begin, Chunk(stored, hash))) = chunk else {
            return self.read_at(target, offset);
        };
        if stored == 0 {
            target.fill(0);
            let is_right = check == Check::Nothing || super::Hash::from_bytes(target) == hash;
            return if is_right { Ok(()) } else { Err(wrong_hash()) };
        }
        match (self.encoding, check) {
            (Encoding::Plain, Check::Nothing) => self.read_at(target, begin),
            (Encoding::Plain, Check::Hashes) => {
                let bytes = sized(&mut rooms.bytes, target.len());
                self.read_at(bytes, begin)?;
                if super::Hash::from_bytes(bytes) != hash {
                    return Err(wrong_hash());
                }
                target.copy_from_slice(bytes);
                Ok(())
            }
            (Encoding::Zstd, _) => {
                let packed = sized(&mut rooms.packed, usize::try_from(stored).unwrap_or(usize::MAX));
                self.read_at(packed, begin)?;
                let bytes = sized(&mut rooms.bytes, target.len());
                let unpacked = zstd::bulk::decompress_to_buffer(packed, bytes).map_err(|error| {
                    let reason = error.to_string();
                    CaptureError::NotDecompressed { path: self.path.clone(), offset: begin, reason }
                })?;
                if unpacked != bytes.len() || (check == Check::Hashes && super::Hash::from_bytes(bytes) != hash) {
                    return Err(wrong_hash());
                }
                target.copy_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn read_at(&self, target: &mut [u8], offset: u64) -> Result<(), CaptureError> {
        let read = regular::open(&self.path).and_then(|file| file.read_exact_at(target, offset));
        read.map_err(|error| CaptureError::Io { path: self.path.clone(), error })
    }
}

#[derive(Default)]
struct Rooms {
    bytes: Vec<u8>,
    packed: Vec<u8>,
    staged: Vec<u8>,
}

/// The first bytes of a buffer, which grows as needed.
fn sized(buffer: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    buffer.get_mut(..length).unwrap_or_default()
}

/// Reads regions into memory that this process may write to. Each target is as long as its blob.
pub fn restore(targets: Vec<(&StoredBlob, &mut [u8])>, check: Check, threads: usize) -> Result<(), CaptureError> {
    let threads = threads_of(targets.iter().map(|(blob, _)| *blob), threads);
    let pieces = targets.into_iter().flat_map(|(blob, target)| {
        let chunk_bytes = usize::try_from(blob.chunk_bytes).unwrap_or(usize::MAX);
        let offsets = blob.ranges().map(|(offset, _)| offset);
        offsets.zip(target.chunks_mut(chunk_bytes)).map(move |(offset, target)| (blob, offset, target))
    });
    in_parallel(pieces, threads, |(blob, offset, target), rooms| blob.read_chunk(offset, target, rooms, check))
}

fn threads_of<'a>(blobs: impl Iterator<Item = &'a StoredBlob>, threads: usize) -> usize {
    threads_for(blobs.map(|blob| blob.chunk_bytes.min(blob.size)).max().unwrap_or(0), threads)
}

/// Takes the number of a blob, an offset in it, and the bytes from there.
type Take<'a> = dyn Fn(usize, u64, &[u8]) -> Result<(), CaptureError> + Sync + 'a;

/// Reads regions piece by piece, and hands each to a function with the number of its blob and its offset.
pub fn restore_by(blobs: &[&StoredBlob], check: Check, threads: usize, take: &Take<'_>) -> Result<(), CaptureError> {
    let threads = threads_of(blobs.iter().copied(), threads);
    let pieces = blobs
        .iter()
        .enumerate()
        .flat_map(|(number, blob)| blob.ranges().map(move |(offset, length)| (number, *blob, offset, length)));
    in_parallel(pieces, threads, |(number, blob, offset, length), rooms| {
        let mut staged = std::mem::take(&mut rooms.staged);
        let bytes = sized(&mut staged, length);
        let read = blob.read_chunk(offset, bytes, rooms, check).and_then(|()| take(number, offset, bytes));
        rooms.staged = staged;
        read
    })
}

/// Processes pieces on several threads. If several pieces fail, returns the failure of the first of them.
fn in_parallel<Piece: Send>(
    pieces: impl Iterator<Item = Piece> + Send,
    threads: usize,
    act: impl Fn(Piece, &mut Rooms) -> Result<(), CaptureError> + Sync,
) -> Result<(), CaptureError> {
    let pieces = Mutex::new(pieces.enumerate());
    let failure: Mutex<Option<(usize, CaptureError)>> = Mutex::new(None);
    let is_over = AtomicBool::new(false);
    let work = || {
        let mut rooms = Rooms::default();
        while !is_over.load(Ordering::Relaxed) {
            let next = pieces.lock().ok().and_then(|mut pieces| pieces.next());
            let Some((number, piece)) = next else { break };
            if let Err(error) = act(piece, &mut rooms) {
                is_over.store(true, Ordering::Relaxed);
                if let Ok(mut failure) = failure.lock()
                    && failure.as_ref().is_none_or(|(earlier, _)| number < *earlier)
                {
                    *failure = Some((number, error));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let failure = failure.into_inner().unwrap_or_default();
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

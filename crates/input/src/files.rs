//! The files of a process: their paths, their changes, and the memory that they take.

use std::fs::{self, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::dataset::MANIFEST;
use super::stores::{Mirror, shown};
use wavesieve_files::regular;
use wavesieve_tables::trace::jobs::READING_BYTES;

/// Bytes that are hashed at the start and at the end of a file.
const END_BYTES: u64 = 1 << 20;

/// Identifies a file and detects changes to it, without reading all of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileIdentity {
    /// Path as given or found.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// Time of the last change in ns since 1970.
    pub modified_ns: i64,
    /// Hash of the first and the last MiB, 32 hexadecimal digits.
    pub ends_hash: String,
}

impl FileIdentity {
    /// Whether the file still has its size and time.
    pub fn is_unchanged(&self) -> bool {
        Stamp::of(Path::new(&self.path)) == Some(Stamp { bytes: self.bytes, modified_ns: self.modified_ns })
    }

    /// Reads the identity of a file.
    pub fn compute(path: &Path) -> Result<Self> {
        Self::read(path).with_context(|| format!("cannot read {}", path.display()))
    }

    fn read(path: &Path) -> Result<Self> {
        let mut file = regular::open(path)?;
        let metadata = file.metadata()?;
        let bytes = metadata.len();
        let mut ends = Vec::new();
        (&file).take(END_BYTES).read_to_end(&mut ends)?;
        let rest = bytes.saturating_sub(END_BYTES).min(END_BYTES);
        if rest > 0 {
            file.seek(SeekFrom::Start(bytes - rest))?;
            file.take(rest).read_to_end(&mut ends)?;
        }
        let modified_ns = Stamp::new(&metadata)?.modified_ns;
        let ends_hash = format!("{:032x}", xxh3_128(&ends));
        // The local copy of a dataset in a store does not have a lasting name or time.
        let modified_ns = if Mirror::of(path).is_some() { 0 } else { modified_ns };
        Ok(Self { path: shown(path), bytes, modified_ns, ends_hash })
    }
}

/// The file system's record of a file: a change to the file is detected without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Size.
    pub bytes: u64,
    /// Time of the last change in ns since 1970.
    pub modified_ns: i64,
}

impl Stamp {
    /// The stamp of a path; `None` if it cannot be read.
    pub fn of(path: &Path) -> Option<Self> {
        Self::new(&fs::metadata(path).ok()?).ok()
    }

    fn new(metadata: &Metadata) -> Result<Self> {
        let modified_ns = match metadata.modified()?.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
        };
        Ok(Self { bytes: metadata.len(), modified_ns })
    }
}

/// The files behind a path: a database with its log, or the manifest of a dataset, which every write renews.
pub(crate) fn files_of(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        return vec![path.join(MANIFEST)];
    }
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let logs = [beside("-wal"), beside("-journal")];
    let filled = |path: &PathBuf| fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    std::iter::once(path.to_owned()).chain(logs.into_iter().filter(filled)).collect()
}

/// Estimate of the memory that all tables of a process need while they are read and written, from its share of the
/// bytes of its files.
pub fn memory_bytes(format: &str, files: &[PathBuf], bytes: u64) -> u64 {
    let compressed = files.first().is_some_and(|path| path.extension().is_some_and(|extension| extension == "gz"));
    let unpacked = if compressed { bytes.saturating_mul(12) } else { bytes };
    // Databases store integers as compactly as memory does. Text formats need several bytes for each of them, and repeat names.
    let quarters = match format {
        "rocpd" | "rpd" => 4,
        _ => 2,
    };
    (unpacked / 4).saturating_mul(quarters).saturating_add(READING_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_at_either_end_or_of_the_size_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut content = vec![1_u8; 3 << 20];
        fs::write(&path, &content).unwrap();
        let first = FileIdentity::compute(&path).unwrap();
        let hash_with = |at: usize, content: &mut Vec<u8>| {
            content[at] = 2;
            fs::write(&path, &*content).unwrap();
            content[at] = 1;
            FileIdentity::compute(&path).unwrap().ends_hash
        };
        assert_ne!(hash_with(0, &mut content), first.ends_hash);
        assert_ne!(hash_with((3 << 20) - 1, &mut content), first.ends_hash);
        assert_eq!(hash_with(3 << 19, &mut content), first.ends_hash, "the middle is not read");
        content.push(1);
        fs::write(&path, &content).unwrap();
        assert_eq!(FileIdentity::compute(&path).unwrap().bytes, first.bytes + 1);
    }

    #[test]
    fn a_log_belongs_to_its_database() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        fs::write(&path, "x").unwrap();
        fs::write(directory.path().join("a.db-wal"), "").unwrap();
        assert_eq!(files_of(&path), std::slice::from_ref(&path));
        fs::write(directory.path().join("a.db-wal"), "y").unwrap();
        assert_eq!(files_of(&path).len(), 2);
    }
}

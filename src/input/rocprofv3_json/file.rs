//! A file that can be read anywhere: as it is, or decompressed into a temporary file without name, which all inputs share.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;

use super::index::FileIndex;
use super::scanner::Scanner;

/// First bytes of a gzip file.
pub const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

const BLOCK_BYTES: usize = 1 << 20;

/// Bytes between the places where a section is taken apart.
const PART_BYTES: u64 = 4 << 20;

/// An input that can be read.
pub struct InputFile {
    content: Content,
    /// Why the end of a compressed file is missing.
    pub damage: Option<String>,
}

enum Content {
    /// The input itself. It is opened for every read: of a run with very many ranks not all files can be open at once.
    InPlace(PathBuf),
    /// The decompressed text, which lies somewhere in a spool.
    Spooled { file: Arc<File>, start: u64, length: u64 },
}

/// Where the text of compressed inputs goes: one file without name for all of them, which keeps it open for as long as
/// one of them is in use.
#[derive(Default)]
pub struct Spool {
    file: Option<Arc<File>>,
    end: u64,
}

impl Spool {
    fn file(&mut self) -> Result<Arc<File>> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let file = tempfile::tempfile().context("cannot create a temporary file; set TMPDIR to another place")?;
        Ok(Arc::clone(self.file.insert(Arc::new(file))))
    }
}

impl InputFile {
    /// Opens a file; one that is compressed is decompressed beside no input but in the `spool`, as far as that is
    /// possible.
    ///
    /// # Errors
    /// When the file cannot be read or the temporary file cannot be written.
    pub fn open(path: &Path, spool: &mut Spool) -> Result<Self> {
        let mut file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let mut head = Vec::new();
        (&file).take(GZIP_MAGIC.len() as u64).read_to_end(&mut head)?;
        if head != GZIP_MAGIC {
            return Ok(Self { content: Content::InPlace(path.to_owned()), damage: None });
        }
        file.rewind()?;
        let target = spool.file()?;
        let (start, mut length) = (spool.end, 0_u64);
        let mut decoder = MultiGzDecoder::new(file);
        let mut block = vec![0; BLOCK_BYTES];
        let damage = loop {
            match decoder.read(&mut block) {
                Ok(0) => break None,
                Ok(count) => {
                    target
                        .write_all_at(block.get(..count).unwrap_or_default(), start + length)
                        .context("cannot decompress into a temporary file; set TMPDIR to a place with more room")?;
                    length += count as u64;
                }
                Err(error) => break Some(format!("the compressed data end early: {error}")),
            }
        };
        spool.end += length;
        Ok(Self { content: Content::Spooled { file: target, start, length }, damage })
    }

    /// Lends the file with the place of the text in it: start, and length where that is not up to the end.
    fn with_file<T>(&self, use_file: impl FnOnce(&File, u64, Option<u64>) -> Result<T>) -> Result<T> {
        match &self.content {
            Content::InPlace(path) => {
                let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
                use_file(&file, 0, None)
            }
            Content::Spooled { file, start, length } => use_file(file, *start, Some(*length)),
        }
    }

    /// Finds the sections.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn scan(&self) -> Result<FileIndex> {
        let mut scanner = Scanner::new(PART_BYTES);
        let mut block = vec![0; BLOCK_BYTES];
        let mut at = 0_u64;
        self.with_file(|file, start, length| {
            loop {
                let left = length.map_or(BLOCK_BYTES as u64, |length| length.saturating_sub(at));
                let room = usize::try_from(left).unwrap_or(BLOCK_BYTES).min(BLOCK_BYTES);
                let count = file.read_at(block.get_mut(..room).unwrap_or_default(), start + at)?;
                if count == 0 {
                    return Ok(scanner.finish());
                }
                scanner.feed(block.get(..count).unwrap_or_default());
                at += count as u64;
            }
        })
    }

    /// The bytes from `start` to `end`, appended to `bytes`.
    ///
    /// # Errors
    /// When they cannot be read, as when the file was cut while it is being read.
    pub fn read(&self, start: u64, end: u64, bytes: &mut Vec<u8>) -> Result<()> {
        let length = usize::try_from(end.saturating_sub(start)).context("a section is too large for this machine")?;
        let before = bytes.len();
        bytes.resize(before.saturating_add(length), 0);
        let target = bytes.get_mut(before..).unwrap_or_default();
        self.with_file(|file, base, known| {
            anyhow::ensure!(known.is_none_or(|known| end <= known), "the text ends before byte {end}");
            Ok(file.read_exact_at(target, base.saturating_add(start))?)
        })
    }
}

/// The first bytes of a compressed file, decompressed; what there is of them if the file is damaged.
pub fn decompressed_head(path: &Path, length: u64) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = File::open(path) {
        // An error leaves what was decompressed before it.
        let _ = MultiGzDecoder::new(file).take(length).read_to_end(&mut head);
    }
    head
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn compressed(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn plain_and_compressed_files_read_alike() {
        let directory = tempfile::tempdir().unwrap();
        let text = format!("{{\"{}\": [{{\"agents\": [1, 2]}}]}}", crate::input::rocprofv3_json::ROOT_KEY);
        let (first, second) = text.split_at(20);
        let mut spool = Spool::default();
        // A file may be made of several compressed ones in a row.
        for (name, bytes) in [
            ("plain", text.clone().into_bytes()),
            ("one", compressed(&text)),
            ("two", [compressed(first), compressed(second)].concat()),
        ] {
            let path = directory.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let file = InputFile::open(&path, &mut spool).unwrap();
            assert_eq!(file.damage, None, "{name}");
            let index = file.scan().unwrap();
            assert_eq!((index.length, index.processes[0].rows("agents")), (text.len() as u64, 2), "{name}");
            let mut bytes = b"> ".to_vec();
            file.read(2, 22, &mut bytes).unwrap();
            assert_eq!(bytes, format!("> {}", text.get(2..22).unwrap()).into_bytes(), "{name}");
            assert!(file.read(2, 10_000, &mut Vec::new()).is_err(), "{name}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3, "nothing is created beside the inputs");
    }

    #[test]
    fn compressed_files_share_one_open_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = Spool::default();
        let texts: Vec<String> = (1..9).map(|number| number.to_string().repeat(number * 100_000)).collect();
        let files: Vec<InputFile> = texts
            .iter()
            .map(|text| {
                let path = directory.path().join("a");
                std::fs::write(&path, compressed(text)).unwrap();
                InputFile::open(&path, &mut spool).unwrap()
            })
            .collect();
        assert_eq!(spool.file.as_ref().map(Arc::strong_count), Some(texts.len() + 1));
        for (text, file) in texts.iter().zip(files) {
            let mut bytes = Vec::new();
            file.read(0, text.len() as u64, &mut bytes).unwrap();
            assert!(bytes == text.as_bytes());
            assert!(file.read(0, text.len() as u64 + 1, &mut bytes).is_err());
            assert_eq!(file.scan().unwrap().length, text.len() as u64);
        }
    }

    #[test]
    fn what_comes_before_the_damage_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = Spool::default();
        let text = "0123456789".repeat(50_000);
        let bytes = compressed(&text);
        let path = directory.path().join("cut");
        std::fs::write(&path, bytes.get(..bytes.len() - 10).unwrap()).unwrap();
        let file = InputFile::open(&path, &mut spool).unwrap();
        assert!(file.damage.is_some());
        assert_eq!(decompressed_head(&path, 12), b"012345678901");
    }
}

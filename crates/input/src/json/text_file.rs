//! Random access to a file: in place, or decompressed into memory, or if it is large, into a nameless temporary file that all inputs share.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};

use super::inflate::{Inflated, expected_length, inflate};
use crate::common::copy_room::CopyRoom;
use crate::common::gzip::GzipText;
use wavesieve_files::regular;

/// First bytes of a gzip file.
pub(crate) const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// Zero bytes that follow a text, so that whole words can be loaded near its end.
pub(crate) const PADDING: usize = 32;

const BLOCK_BYTES: usize = 1 << 20;
/// Compressed bytes that are read at once.
const COMPRESSED_BYTES: usize = 1 << 15;

/// Maximum bytes of decompressed texts in memory, for all inputs together.
const MAX_IN_MEMORY: u64 = 64 << 20;

thread_local! {
    /// The buffer of the last read, reused so that a read does not allocate.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// An input that can be read.
pub(crate) struct TextFile {
    content: Content,
    /// The reason why the end of a compressed file is missing.
    pub damage: Option<String>,
}

enum Content {
    /// The input itself. It is opened for every read, because the files of very many ranks cannot all be open at once.
    InPlace(PathBuf),
    /// The decompressed text, followed by zeros.
    InMemory { text: Box<dyn Deref<Target = [u8]> + Send + Sync>, length: usize },
    /// The decompressed text within a spool.
    Spooled { file: Arc<File>, start: u64, length: u64 },
}

/// The storage of decompressed inputs: one nameless file for all of them. It stays open as long as one of them is in use.
#[derive(Default)]
pub(crate) struct Spool {
    file: Option<Arc<File>>,
    end: u64,
    /// Bytes of the texts that are in memory instead.
    in_memory: u64,
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

impl TextFile {
    /// Opens a file. A compressed file is decompressed into memory or into the `spool`, and never next to an input.
    ///
    /// # Errors
    /// When the file cannot be read or the temporary file cannot be written.
    pub fn open(path: &Path, spool: &mut Spool) -> Result<Self> {
        let file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let mut head = Vec::new();
        (&file).take(GZIP_MAGIC.len() as u64).read_to_end(&mut head)?;
        if !head.starts_with(GZIP_MAGIC) {
            return Ok(Self { content: Content::InPlace(path.to_owned()), damage: None });
        }
        let room = MAX_IN_MEMORY.saturating_sub(spool.in_memory);
        if let Some(Inflated { memory, length }) = inflate(path, room, PADDING)? {
            spool.in_memory += length as u64;
            let content = Content::InMemory { text: Box::new(memory), length };
            return Ok(Self { content, damage: None });
        }
        let mut text = Vec::with_capacity(PADDING.saturating_add(expected_length(&file)?.min(room) as usize));
        let mut decoder = decompressed(file);
        let mut outcome = (&mut decoder).take(room).read_to_end(&mut text);
        if outcome.is_err() {
            // A decoder that fails drops the output of that read. An empty buffer keeps the reads small.
            decoder = decompressed(regular::open(path)?);
            text = Vec::new();
            outcome = (&mut decoder).take(room).read_to_end(&mut text);
        }
        let damage = match outcome {
            // The text continues, or ends exactly here.
            Ok(_) if text.len() as u64 == room => return Self::spooled(decoder, &text, spool),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        let length = text.len();
        spool.in_memory += length as u64;
        text.resize(length.saturating_add(PADDING), 0);
        let content = Content::InMemory { text: Box::new(text), length };
        Ok(Self { content, damage })
    }

    /// A text that is already in memory.
    pub fn of_text(mut text: Vec<u8>) -> Self {
        let length = text.len();
        text.resize(length.saturating_add(PADDING), 0);
        Self { content: Content::InMemory { text: Box::new(text), length }, damage: None }
    }

    /// Writes the text of a compressed file to the spool; the `first` part is already decompressed.
    fn spooled(mut decoder: GzipText<BufReader<File>>, first: &[u8], spool: &mut Spool) -> Result<Self> {
        let target = spool.file()?;
        let start = spool.end;
        let mut room = CopyRoom::default();
        let mut put = |bytes: &[u8], at: u64| {
            room.take(bytes.len() as u64)?;
            let context = "cannot decompress into a temporary file; set TMPDIR to a place with more room";
            target.write_all_at(bytes, at).context(context)
        };
        put(first, start)?;
        let mut length = first.len() as u64;
        let mut block = vec![0; BLOCK_BYTES];
        let damage = loop {
            match decoder.read(&mut block) {
                Ok(0) => break None,
                Ok(count) => {
                    put(block.get(..count).unwrap_or_default(), start + length)?;
                    length += count as u64;
                }
                Err(error) => break Some(error.to_string()),
            }
        };
        spool.end += length;
        let content = Content::Spooled { file: target, start, length };
        Ok(Self { content, damage })
    }

    /// Lends the file with the start of the text in it, and its length if it does not extend to the end.
    fn with_file<T>(&self, use_file: impl FnOnce(&File, u64, Option<u64>) -> Result<T>) -> Result<T> {
        match &self.content {
            Content::InMemory { .. } => anyhow::bail!("internal: a text in memory has no file"),
            Content::InPlace(path) => {
                let file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
                use_file(&file, 0, None)
            }
            Content::Spooled { file, start, length } => use_file(file, *start, Some(*length)),
        }
    }

    /// Length of the text.
    pub fn length(&self) -> Result<u64> {
        if let Content::InMemory { length, .. } = &self.content {
            return Ok(*length as u64);
        }
        self.with_file(|file, _, length| Ok(length.map_or_else(|| file.metadata().map(|data| data.len()), Ok)?))
    }

    /// Lends the bytes from `start` to `end`, or fewer at the end of the text, and their number. They are followed by enough bytes to load
    /// whole words near the end: the next bytes of the text, or zeros.
    pub fn with_text<T>(&self, start: u64, end: u64, use_text: impl FnOnce(&[u8], usize) -> T) -> Result<T> {
        if let Content::InMemory { text, length } = &self.content {
            let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(*length);
            let (start, end) = (place(start), place(end));
            let lent = text.get(start..end.saturating_add(PADDING)).unwrap_or_default();
            return Ok(use_text(lent, end.saturating_sub(start)));
        }
        let mut buffer = BUFFER.take();
        let length = self.fill(start, end, &mut buffer)?;
        let text = buffer.get(..length.saturating_add(PADDING)).unwrap_or_default();
        let result = use_text(text, length);
        BUFFER.set(buffer);
        Ok(result)
    }

    /// Reads bytes to the start of a buffer, followed by zeros.
    fn fill(&self, start: u64, end: u64, buffer: &mut Vec<u8>) -> Result<usize> {
        self.with_file(|file, base, known| {
            let end = known.map_or(end, |known| end.min(known));
            let wanted =
                usize::try_from(end.saturating_sub(start)).context("a section is too large for this machine")?;
            if buffer.len() < wanted.saturating_add(PADDING) {
                buffer.resize(wanted.saturating_add(PADDING), 0);
            }
            let mut length = 0;
            while let Some(target) = buffer.get_mut(length..wanted).filter(|target| !target.is_empty()) {
                match file.read_at(target, base.saturating_add(start).saturating_add(length as u64)) {
                    Ok(0) => break,
                    Ok(count) => length += count,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
            buffer.iter_mut().skip(length).take(PADDING).for_each(|byte| *byte = 0);
            Ok(length)
        })
    }

    /// The bytes from `start` to `end`, appended to `bytes`.
    ///
    /// # Errors
    /// When they cannot be read, for example because the file was cut meanwhile.
    pub fn read(&self, start: u64, end: u64, bytes: &mut Vec<u8>) -> Result<()> {
        if let Content::InMemory { text, length } = &self.content {
            let place = |offset: u64| usize::try_from(offset).ok().filter(|offset| offset <= length);
            let found = place(start).zip(place(end)).and_then(|(start, end)| text.get(start..end));
            bytes.extend_from_slice(found.with_context(|| format!("the text ends before byte {end}"))?);
            return Ok(());
        }
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

/// The text of a compressed file.
fn decompressed(file: File) -> GzipText<BufReader<File>> {
    GzipText::new(BufReader::with_capacity(COMPRESSED_BYTES, file))
}

/// The first decompressed bytes of a compressed file; fewer if the file is damaged.
pub(crate) fn decompressed_head(path: &Path, length: u64) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = regular::open(path) {
        // An error keeps the bytes that were decompressed before it.
        let _ = decompressed(file).take(length).read_to_end(&mut head);
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
        let text = format!("{{\"{}\": [{{\"agents\": [1, 2]}}]}}", "root".repeat(5));
        let (first, second) = text.split_at(20);
        // A file may consist of several compressed files in a row. All of its text, a part or nothing fits into memory.
        for (name, bytes, room) in [
            ("plain", text.clone().into_bytes(), 0),
            ("one", compressed(&text), 100),
            ("two", [compressed(first), compressed(second)].concat(), 100),
            ("exact", compressed(&text), text.len() as u64),
            ("half", compressed(&text), 25),
            ("none", compressed(&text), 0),
        ] {
            let mut spool = Spool { in_memory: MAX_IN_MEMORY - room, ..Spool::default() };
            let path = directory.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let file = TextFile::open(&path, &mut spool).unwrap();
            assert_eq!(file.damage, None, "{name}");
            assert_eq!(file.length().unwrap(), text.len() as u64, "{name}");
            let mut bytes = b"> ".to_vec();
            file.read(2, 22, &mut bytes).unwrap();
            file.with_text(2, 22, |lent, length| {
                assert_eq!((&bytes[2..], 20 + PADDING), (&lent[..length], lent.len()))
            })
            .unwrap();
            assert_eq!(bytes, format!("> {}", text.get(2..22).unwrap()).into_bytes(), "{name}");
            assert!(file.read(2, 10_000, &mut Vec::new()).is_err(), "{name}");
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 6, "nothing is created beside the inputs");
    }

    #[test]
    fn compressed_files_share_one_open_file() {
        let directory = tempfile::tempdir().unwrap();
        // The spool has no room left in memory.
        let mut spool = Spool { in_memory: MAX_IN_MEMORY, ..Spool::default() };
        let texts: Vec<String> = (1..9).map(|number| number.to_string().repeat(number * 100_000)).collect();
        let files: Vec<TextFile> = texts
            .iter()
            .map(|text| {
                let path = directory.path().join("a");
                std::fs::write(&path, compressed(text)).unwrap();
                TextFile::open(&path, &mut spool).unwrap()
            })
            .collect();
        assert_eq!(spool.file.as_ref().map(Arc::strong_count), Some(texts.len() + 1));
        for (text, file) in texts.iter().zip(files) {
            let mut bytes = Vec::new();
            file.read(0, text.len() as u64, &mut bytes).unwrap();
            assert!(bytes == text.as_bytes());
            assert!(file.read(0, text.len() as u64 + 1, &mut bytes).is_err());
            assert_eq!(file.length().unwrap(), text.len() as u64);
        }
    }

    #[test]
    fn broken_files_give_what_small_reads_give() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("broken");
        let numbers = (0..4_000_u32).map(|number| number.wrapping_mul(2_654_435_769).to_string());
        let whole = compressed(&numbers.collect::<String>());
        let mut kept = 0;
        for start in (100..whole.len() - 100).step_by(whole.len() / 20) {
            let mut bytes = whole.clone();
            bytes.drain(start..start + 40);
            let mut expected = Vec::new();
            if flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut expected).is_ok() {
                continue;
            }
            std::fs::write(&path, &bytes).unwrap();
            let file = TextFile::open(&path, &mut Spool::default()).unwrap();
            assert!(file.damage.is_some(), "{start}");
            let mut text = Vec::new();
            file.read(0, file.length().unwrap(), &mut text).unwrap();
            assert!(text == expected, "{start}: {} bytes instead of {}", text.len(), expected.len());
            kept += text.len();
        }
        assert!(kept > 0);
    }

    #[test]
    fn what_comes_before_the_damage_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = Spool::default();
        let text = "0123456789".repeat(50_000);
        let bytes = compressed(&text);
        let path = directory.path().join("cut");
        std::fs::write(&path, bytes.get(..bytes.len() - 10).unwrap()).unwrap();
        let file = TextFile::open(&path, &mut spool).unwrap();
        assert!(file.damage.is_some());
        assert_eq!(decompressed_head(&path, 12), b"012345678901");
    }
}

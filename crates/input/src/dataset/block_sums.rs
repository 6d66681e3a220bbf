//! Sums of the blocks of a file. With them, a reader detects bytes that changed after the file was written.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use wavesieve_files::regular;

/// Bytes of a block with its own sum: small enough that a check of one column reads few others, large enough that the list of sums stays
/// short.
const BLOCK_BYTES: u64 = 1 << 18;
/// Hexadecimal digits of a sum.
const DIGITS: usize = 16;

/// The sums of all blocks or column chunks of a file, in order. Their text form is hexadecimal digits without separators.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BlockSums(Vec<u64>);

impl From<Vec<u64>> for BlockSums {
    fn from(sums: Vec<u64>) -> Self {
        Self(sums)
    }
}

impl From<BlockSums> for String {
    fn from(sums: BlockSums) -> Self {
        sums.0.into_iter().map(|sum| format!("{sum:016x}")).collect()
    }
}

impl TryFrom<String> for BlockSums {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let sum = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == DIGITS);
            digits.and_then(|digits| u64::from_str_radix(digits, 16).ok())
        };
        let sums: Option<Vec<u64>> = text.as_bytes().chunks(DIGITS).map(sum).collect();
        sums.map(Self).ok_or_else(|| "sums of blocks have 16 hexadecimal digits each".to_owned())
    }
}

impl BlockSums {
    /// Computes the sums of a file as it is now.
    pub fn compute(path: &Path) -> io::Result<Self> {
        let mut file = regular::open(path)?;
        let mut sums = Vec::new();
        let mut block = Vec::new();
        while read_block(&mut file, &mut block)? > 0 {
            sums.push(xxh3_64(&block));
        }
        Ok(Self(sums))
    }
}

impl BlockSums {
    /// The sum of a block or chunk.
    pub fn get(&self, number: usize) -> Option<u64> {
        self.0.get(number).copied()
    }
}

/// The next block of a file, which is shorter at its end.
fn read_block(file: &mut File, block: &mut Vec<u8>) -> io::Result<usize> {
    block.clear();
    Read::by_ref(file).take(BLOCK_BYTES).read_to_end(block)
}

/// Compares blocks of a file with their sums, each once.
pub(crate) struct BlockCheck<'a> {
    file: &'a File,
    sums: &'a BlockSums,
    checked: BTreeSet<u64>,
}

impl<'a> BlockCheck<'a> {
    /// A check that has not compared any block yet.
    pub fn new(file: &'a File, sums: &'a BlockSums) -> Self {
        Self { file, sums, checked: BTreeSet::new() }
    }

    /// Compares the blocks that contain the bytes.
    ///
    /// # Errors
    /// When a block cannot be read, or differs from what was written.
    pub fn bytes(&mut self, bytes: Range<u64>) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        for number in bytes.start / BLOCK_BYTES..bytes.end.div_ceil(BLOCK_BYTES) {
            if !self.checked.insert(number) {
                continue;
            }
            let mut file = self.file;
            let mut block = Vec::new();
            file.seek(SeekFrom::Start(number * BLOCK_BYTES)).context("cannot be read")?;
            file.take(BLOCK_BYTES).read_to_end(&mut block).context("cannot be read")?;
            let written = usize::try_from(number).ok().and_then(|number| self.sums.0.get(number));
            ensure!(written == Some(&xxh3_64(&block)), "its content changed after it was written");
        }
        Ok(())
    }

    /// Compares all blocks.
    pub fn all(&mut self) -> Result<()> {
        self.bytes(0..self.sums.0.len() as u64 * BLOCK_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_changed_byte_is_found_where_it_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut content: Vec<u8> = (0..700_000_u32).map(|number| number as u8).collect();
        fs::write(&path, &content).unwrap();
        let sums = BlockSums::compute(&path).unwrap();
        let text = String::from(sums.clone());
        assert_eq!(text.len(), 3 * DIGITS);
        assert_eq!(BlockSums::try_from(text).unwrap(), sums);
        let holds = |bytes: Range<u64>| BlockCheck::new(&File::open(&path).unwrap(), &sums).bytes(bytes).is_ok();
        assert!(holds(0..700_000));
        assert!(BlockCheck::new(&File::open(&path).unwrap(), &sums).all().is_ok());
        content[300_000] ^= 1;
        fs::write(&path, &content).unwrap();
        assert!(holds(0..BLOCK_BYTES) && holds(2 * BLOCK_BYTES..700_000) && holds(5..5));
        assert!(!holds(BLOCK_BYTES - 1..BLOCK_BYTES + 1));
        assert!(BlockCheck::new(&File::open(&path).unwrap(), &sums).all().is_err());
    }

    #[test]
    fn other_texts_are_no_sums() {
        for text in ["0123", "0123456789abcdeg", "0123456789abcdefé"] {
            assert!(BlockSums::try_from(text.to_owned()).is_err(), "{text}");
        }
        assert_eq!(BlockSums::try_from(String::new()).unwrap(), BlockSums::default());
    }
}

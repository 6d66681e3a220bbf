//! A database file as it is, or decompressed into a temporary file.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;
use tempfile::{NamedTempFile, TempPath};

const BLOCK_BYTES: usize = 1 << 20;

/// A database that SQLite can open.
#[derive(Debug)]
pub struct DatabaseFile {
    place: Place,
    /// Why the end of a compressed file is missing.
    pub damage: Option<String>,
}

#[derive(Debug)]
enum Place {
    /// The input itself.
    Input(PathBuf),
    /// The decompressed database. SQLite opens files by name, so that it has one until nobody reads it any more.
    Temporary(TempPath),
}

impl DatabaseFile {
    /// The input itself.
    pub fn in_place(path: &Path) -> Self {
        Self { place: Place::Input(path.to_owned()), damage: None }
    }

    /// Decompresses a file beside no input but in TMPDIR, as far as that is possible.
    ///
    /// # Errors
    /// When the file cannot be read or the temporary file cannot be written.
    pub fn decompressed(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let mut target = NamedTempFile::new().context("cannot create a temporary file; set TMPDIR to another place")?;
        let mut decoder = MultiGzDecoder::new(file);
        let mut block = vec![0; BLOCK_BYTES];
        let damage = loop {
            match decoder.read(&mut block) {
                Ok(0) => break None,
                Ok(count) => target
                    .write_all(block.get(..count).unwrap_or_default())
                    .context("cannot decompress into a temporary file; set TMPDIR to a place with more room")?,
                Err(error) => break Some(format!("the compressed data end early: {error}")),
            }
        };
        Ok(Self { place: Place::Temporary(target.into_temp_path()), damage })
    }

    /// Where SQLite finds it.
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::Input(path) => path,
            Place::Temporary(path) => path,
        }
    }
}

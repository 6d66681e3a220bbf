//! The text of an input, and the columns that were read from it before they were requested.

use std::io::Read;
use std::ops::Deref;
use std::path::Path;

use anyhow::{Context, Result};

use super::ROOT_KEY;
use super::structure::gathered::Gathered;
use crate::json::{Spool, TextFile};
use wavesieve_files::regular;

/// Number of bytes that are enough to distinguish a list from an object, including leading blanks.
const HEAD_BYTES: u64 = 64;
/// A key that only stochastic samples have.
const ISSUED: &[u8] = b"\"wave_issued\"";

/// An input that can be read.
pub(crate) struct InputFile {
    text: TextFile,
    /// Columns that were read before they were requested.
    pub gathered: Gathered,
}

impl Deref for InputFile {
    type Target = TextFile;

    fn deref(&self) -> &TextFile {
        &self.text
    }
}

impl InputFile {
    /// Opens a file; the text of a compressed one may go to the `spool`.
    ///
    /// # Errors
    /// When the file cannot be read or the temporary file cannot be written.
    pub fn open(path: &Path, spool: &mut Spool) -> Result<Self> {
        let file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let mut head = Vec::new();
        file.take(HEAD_BYTES).read_to_end(&mut head)?;
        let is_list = head.trim_ascii_start().starts_with(b"[");
        let text = if is_list { of_samples(path)? } else { TextFile::open(path, spool)? };
        Ok(Self { text, gathered: Gathered::default() })
    }
}

/// The text of a bare list of PC samples, wrapped as the only section of a process.
fn of_samples(path: &Path) -> Result<TextFile> {
    let samples = regular::read(path, u64::MAX).with_context(|| format!("cannot read {}", path.display()))?;
    let is_stochastic = samples.windows(ISSUED.len()).any(|text| text == ISSUED);
    let section = if is_stochastic { "pc_sample_stochastic" } else { "pc_sample_host_trap" };
    let before = format!("{{\"{ROOT_KEY}\":[{{\"buffer_records\":{{\"{section}\":");
    // Text after a cut list would complete its last record.
    let after: &[u8] = if samples.trim_ascii_end().ends_with(b"]") { b"}}]}" } else { b"" };
    Ok(TextFile::of_text([before.as_bytes(), &samples, after].concat()))
}

//! The text of an input, and the columns that were read from it before they were requested.

use std::ops::Deref;
use std::path::Path;

use anyhow::Result;

use super::ROOT_KEY;
use super::structure::gathered::Gathered;
use crate::json::{Spool, TextFile};

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
        let text = TextFile::open(path, spool)?;
        let is_list = text.with_text(0, HEAD_BYTES, |head, _| head.trim_ascii_start().starts_with(b"["))?;
        let text = if is_list { of_samples(text)? } else { text };
        Ok(Self { text, gathered: Gathered::default() })
    }
}

/// The text of a bare list of PC samples, wrapped as the only section of a process.
fn of_samples(list: TextFile) -> Result<TextFile> {
    let mut samples = Vec::new();
    list.read(0, list.length()?, &mut samples)?;
    let is_stochastic = samples.windows(ISSUED.len()).any(|text| text == ISSUED);
    let section = if is_stochastic { "pc_sample_stochastic" } else { "pc_sample_host_trap" };
    let before = format!("{{\"{ROOT_KEY}\":[{{\"buffer_records\":{{\"{section}\":");
    // Text after a cut list would complete its last record.
    let after: &[u8] = if samples.trim_ascii_end().ends_with(b"]") { b"}}]}" } else { b"" };
    let mut text = TextFile::of_text([before.as_bytes(), &samples, after].concat());
    text.damage = list.damage;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn a_list_is_wrapped_whether_compressed_or_not() {
        let list = br#" [{"record": {"hw_id": {}, "exec_mask": 1, "timestamp": 2}}]"#;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(list).unwrap();
        let text = |bytes: &[u8]| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(bytes).unwrap();
            let file = InputFile::open(file.path(), &mut Spool::default()).unwrap();
            let mut text = Vec::new();
            file.read(0, file.length().unwrap(), &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let plain = text(list);
        assert!(plain.starts_with(&format!("{{\"{ROOT_KEY}\":")) && plain.contains("pc_sample_host_trap"));
        assert_eq!(text(&encoder.finish().unwrap()), plain);
    }
}

//! Decompresses gzip files: one text, or several in a row, possibly followed by zeros that fill a block.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use flate2::bufread::GzDecoder;

/// First byte of a gzip file.
const MAGIC: u8 = 0x1f;

/// The text of a gzip file. Errors name the problem: the file is cut, its checksum differs, other bytes follow, or it is damaged.
pub(crate) struct GzipText<R>(Option<GzDecoder<R>>);

impl<R: BufRead> GzipText<R> {
    /// The text that starts here.
    pub fn new(compressed: R) -> Self {
        Self(Some(GzDecoder::new(compressed)))
    }
}

impl<R: BufRead> Read for GzipText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            let Some(decoder) = &mut self.0 else { return Ok(0) };
            let count = decoder.read(buffer).map_err(explained)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(mut rest) = self.0.take().map(GzDecoder::into_inner) else { return Ok(0) };
            match first_after(&mut rest)? {
                None => {}
                Some(MAGIC) => self.0 = Some(GzDecoder::new(rest)),
                Some(_) => {
                    return Err(Error::new(ErrorKind::InvalidData, "trailing bytes after the compressed data"));
                }
            }
        }
    }
}

/// The first byte that is not zero. It is not consumed.
fn first_after(rest: &mut impl BufRead) -> Result<Option<u8>> {
    loop {
        let bytes = rest.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let found = bytes.get(zeros).copied();
        rest.consume(zeros);
        if found.is_some() {
            return Ok(found);
        }
    }
}

fn explained(error: Error) -> Error {
    let said = error.to_string();
    let meant = match error.kind() {
        ErrorKind::Interrupted => return error,
        ErrorKind::UnexpectedEof => format!("the compressed data is truncated: {said}"),
        ErrorKind::InvalidInput if said.contains("checksum") => {
            "the checksum of the compressed data does not match".to_owned()
        }
        ErrorKind::InvalidInput | ErrorKind::InvalidData => format!("the compressed data is damaged: {said}"),
        _ => return error,
    };
    Error::new(error.kind(), meant)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(bytes: &[u8], block: usize) -> (Vec<u8>, Option<String>) {
        let mut text = Vec::new();
        let outcome = GzipText::new(BufReader::with_capacity(block, bytes)).read_to_end(&mut text);
        (text, outcome.err().map(|error| error.to_string()))
    }

    #[test]
    fn texts_in_a_row_and_zeros_are_no_damage() {
        let (one, two) = (packed(b"one, "), packed(b"two"));
        for block in [1, 7, 4096] {
            assert_eq!(unpacked(&one, block), (b"one, ".to_vec(), None));
            assert_eq!(unpacked(&[one.as_slice(), &two].concat(), block), (b"one, two".to_vec(), None));
            assert_eq!(unpacked(&[one.as_slice(), &[0; 600]].concat(), block), (b"one, ".to_vec(), None));
            let padded = [one.as_slice(), &[0; 600], &two, &[0; 3]].concat();
            assert_eq!(unpacked(&padded, block), (b"one, two".to_vec(), None));
        }
    }

    #[test]
    fn damage_is_called_by_its_name() {
        let whole = packed(&b"a text ".repeat(1000));
        let said = |bytes: &[u8]| unpacked(bytes, 512).1.unwrap();
        assert!(said(&whole[..whole.len() - 9]).starts_with("the compressed data is truncated"));
        assert!(said(&whole[..whole.len() - 2]).starts_with("the compressed data is truncated"));
        let mut other = whole.clone();
        other[whole.len() - 6] ^= 1;
        assert_eq!(said(&other), "the checksum of the compressed data does not match");
        let trailing = "trailing bytes after the compressed data";
        assert_eq!(said(&[whole.as_slice(), b"more"].concat()), trailing);
        let mut torn = whole.clone();
        torn[12] ^= 0xff;
        assert_ne!(said(&torn), trailing);
    }
}

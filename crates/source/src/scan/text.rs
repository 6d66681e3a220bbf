//! Converts the bytes of a file to text with uniform line ends.

use std::borrow::Cow;

/// A text whose lines end with a line feed.
#[derive(Debug)]
pub struct Text<'a> {
    /// UTF-8 if the file was text; other bytes stay unchanged.
    pub bytes: Cow<'a, [u8]>,
    /// Offsets in `bytes` of joined line ends, ascending.
    pub joins: Vec<u32>,
    /// Offsets of the continuation lines in the text before joining.
    continuations: Vec<u32>,
}

impl<'a> Text<'a> {
    /// Removes a byte order mark, decodes UTF-16 with such a mark, and turns every line end into a line feed.
    pub fn new(file: &'a [u8]) -> Self {
        let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| -> Vec<u8> {
            let units = bytes.chunks_exact(2).map(|pair| match pair {
                [first, second] => unit([*first, *second]),
                _ => 0,
            });
            let text: String =
                char::decode_utf16(units).map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            text.into_bytes()
        };
        let bytes: Cow<'a, [u8]> = match file {
            [0xef, 0xbb, 0xbf, rest @ ..] => rest.into(),
            [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes).into(),
            [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes).into(),
            _ => file.into(),
        };
        let bytes = if memchr::memchr(b'\r', &bytes).is_some() { unified(&bytes).into() } else { bytes };
        Self { bytes, joins: Vec::new(), continuations: Vec::new() }
    }

    /// Joins lines that end with a backslash with the next one, as C compilers do first.
    pub fn joined(self) -> Self {
        let bytes = &self.bytes;
        let mut kept: Vec<u8> = Vec::new();
        let (mut joins, mut continuations) = (Vec::new(), Vec::new());
        let (mut from, mut start) = (0, 0);
        for end in memchr::memchr_iter(b'\n', bytes) {
            // Compilers ignore blanks after the backslash.
            let line = bytes.get(start..end).unwrap_or_default().trim_ascii_end();
            let before = start;
            start = end + 1;
            let Some(joined) = line.strip_suffix(b"\\") else { continue };
            // Unjoined lines are copied together with the next joined one.
            kept.extend_from_slice(bytes.get(from..before + joined.len()).unwrap_or_default());
            joins.push(u32::try_from(kept.len()).unwrap_or(u32::MAX));
            continuations.push(u32::try_from(end + 1).unwrap_or(u32::MAX));
            from = end + 1;
        }
        if joins.is_empty() {
            return self;
        }
        kept.extend_from_slice(bytes.get(from..).unwrap_or_default());
        Self { bytes: kept.into(), joins, continuations }
    }

    /// The offset of a byte before lines were joined.
    pub(crate) fn unjoined(&self, at: usize) -> usize {
        let before = self.joins.partition_point(|join| (*join as usize) <= at);
        let last =
            before.checked_sub(1).and_then(|last| Some((*self.joins.get(last)?, *self.continuations.get(last)?)));
        last.map_or(at, |(join, continuation)| at - join as usize + continuation as usize)
    }
}

fn unified(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\r', rest) {
        let (before, after) = rest.split_at(at);
        kept.extend_from_slice(before);
        kept.push(b'\n');
        let after = after.get(1..).unwrap_or_default();
        rest = after.strip_prefix(b"\n").unwrap_or(after);
    }
    kept.extend_from_slice(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_and_joins() {
        let text = Text::new(b"\xef\xbb\xbfa\r\nb\\ \r\nc\rd\\\n\\\ne").joined();
        assert_eq!(text.bytes.as_ref(), b"a\nbc\nde");
        assert_eq!(text.joins, [3, 6, 6]);
        let joined = Text::new(b"ab\\\ncd\\ \n\\\ne").joined();
        assert_eq!(joined.bytes.as_ref(), b"abcde");
        assert_eq!([0, 1, 2, 3, 4].map(|at| joined.unjoined(at)), [0, 1, 4, 5, 11]);
        let wide: Vec<u8> =
            [0xff, 0xfe].into_iter().chain("k<<<1\r\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(Text::new(&wide).bytes.as_ref(), b"k<<<1\n");
        assert_eq!(Text::new(b"plain").joined().bytes.as_ref(), b"plain");
    }
}

//! Leaps over the inside of records: finds brackets outside of strings, 64 bytes at a time.
//!
//! A bit stands for a byte. Quotes that no backslash precedes toggle between inside and outside of strings, which is a
//! running exclusive-or over their bits; what remains of the brackets is counted one by one. A block with a backslash, or
//! with a line end inside a string, is left to the scanner that goes byte by byte.

use super::brackets::{Bracket, Brackets};
use crate::json::words::{equal_bytes, likely_brackets};

/// Bytes of a block.
pub const BLOCK: usize = 64;
/// Gathers the lowest bits of eight bytes in the highest byte of the product.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// How far a leap went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScanPosition {
    /// Bytes passed.
    pub bytes: usize,
    /// Whether a string is open behind them.
    pub in_string: bool,
}

/// Passes over bytes and keeps `brackets` up to date, until a bracket would close what lies above `floor`, does not fit
/// the one it closes, or something comes that only the slower way knows. That byte is not passed.
pub fn leap(bytes: &[u8], in_string: bool, floor: usize, brackets: &mut Brackets) -> ScanPosition {
    let mut leap = ScanPosition { bytes: 0, in_string };
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    for block in blocks {
        let found = find(block);
        let inside = inside_strings(found.quotes, leap.in_string);
        if found.backslashes != 0 || found.line_ends & inside != 0 {
            return leap;
        }
        let mut places = found.brackets & !inside;
        while places != 0 {
            let place = places.trailing_zeros();
            places &= places - 1;
            let passed = match block.get(place as usize) {
                Some(b'{') => brackets.open(Bracket::Object),
                Some(b'[') => brackets.open(Bracket::Array),
                Some(b'}') => brackets.close_fitting(Bracket::Object, floor),
                Some(b']') => brackets.close_fitting(Bracket::Array, floor),
                // The bits of brackets are shared by a few letters.
                _ => true,
            };
            if !passed {
                leap.bytes += place as usize;
                leap.in_string = false;
                return leap;
            }
        }
        leap.bytes += BLOCK;
        leap.in_string = inside >> (BLOCK - 1) == 1;
    }
    leap
}

#[derive(Default)]
struct BlockMasks {
    quotes: u64,
    backslashes: u64,
    line_ends: u64,
    brackets: u64,
}

fn find(block: &[u8; BLOCK]) -> BlockMasks {
    let mut found = BlockMasks::default();
    let (words, _) = block.as_chunks::<8>();
    for word in words.iter().rev() {
        let word = u64::from_le_bytes(*word);
        found.quotes = found.quotes << 8 | gathered(equal_bytes(word, b'"'));
        found.backslashes = found.backslashes << 8 | gathered(equal_bytes(word, b'\\'));
        found.line_ends = found.line_ends << 8 | gathered(equal_bytes(word, b'\n'));
        found.brackets = found.brackets << 8 | gathered(likely_brackets(word));
    }
    found
}

/// A bit for each byte that is marked by its highest bit.
fn gathered(marks: u64) -> u64 {
    (marks >> 7).wrapping_mul(GATHER) >> 56
}

/// The bytes inside strings, their opening quotes with them.
fn inside_strings(quotes: u64, in_string: bool) -> u64 {
    let mut inside = quotes;
    for distance in [1, 2, 4, 8, 16, 32] {
        inside ^= inside << distance;
    }
    if in_string { !inside } else { inside }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_bytes() {
        let mut block = [b' '; BLOCK];
        for (at, byte) in [(0, b'"'), (3, b'{'), (8, b'y'), (17, b']'), (40, b'\\'), (62, b'\n'), (63, b'"')] {
            block[at] = byte;
        }
        let found = find(&block);
        assert_eq!(found.quotes, 1 | 1 << 63);
        assert_eq!(found.backslashes, 1 << 40);
        assert_eq!(found.line_ends, 1 << 62);
        assert_eq!(found.brackets, 1 << 3 | 1 << 8 | 1 << 17);
        assert_eq!(inside_strings(found.quotes, false), u64::MAX >> 1);
        assert_eq!(inside_strings(found.quotes, true), 1 << 63);
    }
}

//! The end of an object or list, found eight bytes at a time: most of a trace is arguments that the scan skips.

use super::cursor::MAX_DEPTH;
use crate::json::words::{LOW_BITS, equal_bytes, likely_brackets};

/// The length of the object or list that a text starts with. `None` if it must be read byte by byte: if a string has a backslash or a line
/// end, if brackets do not match, or near the end of the text.
pub(super) fn length_of_brackets(text: &[u8]) -> Option<usize> {
    let mut open = OpenBrackets::default();
    let mut starts_inside = false;
    for (number, bytes) in text.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*bytes);
        let inside = inside_strings(equal_bytes(word, b'"'), starts_inside);
        let unusual = equal_bytes(word, b'\\') | equal_bytes(word, b'\n') & inside;
        let mut brackets = likely_brackets(word) & !inside;
        while brackets != 0 {
            let place = brackets.trailing_zeros() as usize / 8;
            if open.pass(*bytes.get(place)?)? {
                let before = (1 << (8 * place)) - 1;
                return (unusual & before == 0).then_some(8 * number + place + 1);
            }
            brackets &= brackets - 1;
        }
        if unusual != 0 {
            return None;
        }
        starts_inside = inside >> 63 == 1;
    }
    None
}

/// Marks the bytes from each quote to before the next one.
fn inside_strings(quotes: u64, starts_inside: bool) -> u64 {
    let mut inside = quotes;
    for distance in [8, 16, 32] {
        inside ^= inside << distance;
    }
    if starts_inside { inside ^ !LOW_BITS } else { inside }
}

/// The open brackets: one bit each, set for brackets of objects.
#[derive(Default)]
pub(super) struct OpenBrackets {
    of_objects: u64,
    depth: u32,
}

impl OpenBrackets {
    /// Passes over a byte. Returns whether it closes the first bracket, or `None` if such a bracket may not stand here.
    pub(super) fn pass(&mut self, byte: u8) -> Option<bool> {
        match byte {
            b'{' | b'[' if self.depth < MAX_DEPTH => {
                self.of_objects = self.of_objects << 1 | u64::from(byte == b'{');
                self.depth += 1;
            }
            b'}' | b']' if self.depth > 0 && self.of_objects & 1 == u64::from(byte == b'}') => {
                self.of_objects >>= 1;
                self.depth -= 1;
                return Some(self.depth == 0);
            }
            b'{' | b'[' | b'}' | b']' => return None,
            _ => {}
        }
        Some(false)
    }
}

//! Skips values, and accepts only values that a strict parser accepts.

use super::numbers::skip_integer;
use crate::json::words::{LOW_BITS, ONES};

/// Maximum nesting of containers; the general parser reads deeper values.
const DEEPEST: usize = 32;
/// Maximum length of a number; a longer number may be out of range for a float.
const LONGEST_NUMBER: usize = 32;

/// Length of the value at the start of a text. `None` if it is not a value, or only the general parser can judge it: it has characters
/// beyond ASCII, `\u` escapes, exponents, or great depth.
pub(crate) fn skip_value(bytes: &[u8]) -> Option<usize> {
    skip(bytes, DEEPEST)
}

/// Number of elements of the array at the start of a text, and its length; see [`skip_value`].
pub(crate) fn count_elements(bytes: &[u8]) -> Option<(usize, usize)> {
    let element = |rest: &[u8]| skip(rest, DEEPEST.checked_sub(1)?);
    members(bytes, b']', DEEPEST, element).filter(|_| bytes.first() == Some(&b'['))
}

/// Length of white space.
pub fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count()
}

fn skip(bytes: &[u8], depth: usize) -> Option<usize> {
    match bytes.first()? {
        b'"' => Some(skip_text(bytes.get(1..)?)? + 1),
        b'{' => members(bytes, b'}', depth, |rest| {
            let key = skip(rest, 0).filter(|_| rest.first() == Some(&b'"'))?;
            let colon = key + blanks(rest.get(key..)?);
            let value = (rest.get(colon) == Some(&b':')).then_some(colon + 1)?;
            let value = value + blanks(rest.get(value..)?);
            Some(value + skip(rest.get(value..)?, depth.checked_sub(1)?)?)
        })
        .map(|(_, length)| length),
        b'[' => members(bytes, b']', depth, |rest| skip(rest, depth.checked_sub(1)?)).map(|(_, length)| length),
        b't' => bytes.starts_with(b"true").then_some(4),
        b'f' => bytes.starts_with(b"false").then_some(5),
        b'n' => bytes.starts_with(b"null").then_some(4),
        _ => skip_number(bytes),
    }
}

/// Number and length of the members or elements between two brackets.
fn members(bytes: &[u8], end: u8, depth: usize, member: impl Fn(&[u8]) -> Option<usize>) -> Option<(usize, usize)> {
    depth.checked_sub(1)?;
    let mut at = 1 + blanks(bytes.get(1..)?);
    if bytes.get(at) == Some(&end) {
        return Some((0, at + 1));
    }
    for count in 1.. {
        at += member(bytes.get(at..)?)?;
        at += blanks(bytes.get(at..)?);
        match bytes.get(at)? {
            b',' => at += 1 + blanks(bytes.get(at + 1..)?),
            byte if *byte == end => return Some((count, at + 1)),
            _ => return None,
        }
    }
    None
}

/// Length of a number: an integer, or a number with a fraction but without an exponent.
pub(crate) fn skip_number(bytes: &[u8]) -> Option<usize> {
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at += skip_integer(bytes.get(at..)?).filter(|_| bytes.get(at) != Some(&b'-'))?;
    if bytes.get(at) == Some(&b'.') {
        let digits = bytes.get(at + 1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        at += 1 + Some(digits).filter(|digits| *digits > 0)?;
    }
    let ends = !matches!(bytes.get(at), Some(b'e' | b'E' | b'.' | b'0'..=b'9'));
    (ends && at <= LONGEST_NUMBER).then_some(at)
}

/// Length of the rest of a text after its opening quote, including the closing quote.
pub(crate) fn skip_text(bytes: &[u8]) -> Option<usize> {
    let mut at = 0_usize;
    loop {
        let rest = bytes.get(at..)?;
        at += match rest.first_chunk() {
            Some(word) => plain_bytes(u64::from_le_bytes(*word)),
            None => 0,
        };
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => {
                matches!(bytes.get(at + 1)?, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't').then_some(())?;
                at += 2;
            }
            0x20..0x80 => at += 1,
            _ => return None,
        }
    }
}

/// Number of leading bytes of a word without a special meaning in a text, at most 7.
fn plain_bytes(word: u64) -> usize {
    let equals = |byte: u8| {
        let differences = word ^ (ONES * u64::from(byte));
        differences.wrapping_sub(ONES) & !differences
    };
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    let special = (equals(b'"') | equals(b'\\') | controls | word) & !LOW_BITS;
    ((special.trailing_zeros() / 8) as usize).min(7)
}

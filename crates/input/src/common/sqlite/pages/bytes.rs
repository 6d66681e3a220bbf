//! Numbers in bytes that may be cut anywhere.

/// Big-endian number of two bytes.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_be_bytes)
}

/// Big-endian number of four bytes.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_be_bytes)
}

/// Big-endian number of eight bytes. Bytes beyond the end count as zero.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let whole = at.checked_add(8).and_then(|end| bytes.get(at..end)).and_then(|eight| eight.try_into().ok());
    whole.map_or_else(|| ending_u64(bytes, at), u64::from_be_bytes)
}

#[cold]
fn ending_u64(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    (0..8).fold(0, |number, place| (number << 8) | u64::from(rest.get(place).copied().unwrap_or(0)))
}

/// A variable-length number and its length in bytes, 1 to 9.
#[inline]
pub fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    if first < 0x80 {
        return Some((u64::from(first), 1));
    }
    long_varint(bytes.get(at..)?)
}

fn long_varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for (place, &byte) in bytes.iter().take(8).enumerate() {
        number = (number << 7) | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((number, place + 1));
        }
    }
    Some(((number << 8) | u64::from(*bytes.get(8)?), 9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_with_the_bytes() {
        assert_eq!(u16_at(&[1, 2], 0), Some(258));
        assert_eq!(u16_at(&[1, 2], 1), None);
        assert_eq!(u64_at(&[0, 0, 0, 0, 0, 0, 1, 2], 0), 258);
        assert_eq!(u64_at(&[1, 2], 1), 2 << 56);
        assert_eq!(u64_at(&[1, 2], 9), 0);
    }

    #[test]
    fn varints_have_up_to_nine_bytes() {
        assert_eq!(varint(&[0x7f], 0), Some((127, 1)));
        assert_eq!(varint(&[0x81, 0x00], 0), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9], 0), Some((u64::MAX, 9)));
        assert_eq!(varint(&[0xff; 8], 0), None);
        assert_eq!(varint(&[0xff], 0), None);
        assert_eq!(varint(&[], 0), None);
    }
}

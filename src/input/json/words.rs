//! Bytes of a text looked at eight at a time.

/// A one in every byte of a word.
pub(crate) const ONES: u64 = 0x0101_0101_0101_0101;
/// All bits but the highest of every byte.
pub(crate) const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;

/// Marks each byte of a word that equals `byte` by its highest bit.
#[inline]
pub(crate) fn equal_bytes(word: u64, byte: u8) -> u64 {
    let differences = word ^ (ONES * u64::from(byte));
    !(((differences & LOW_BITS) + LOW_BITS) | differences | LOW_BITS)
}

/// Marks each byte of a word that is a bracket of objects or lists, and a few letters that share its bits.
#[inline]
pub(crate) fn likely_brackets(word: u64) -> u64 {
    // `{`, `}`, `[` and `]` differ in these bits alone.
    equal_bytes(word | (ONES * 0x26), 0x7f)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_bytes_are_found(bytes in any::<[u8; 8]>(), byte in any::<u8>()) {
            let marks = equal_bytes(u64::from_le_bytes(bytes), byte).to_le_bytes();
            prop_assert_eq!(marks, bytes.map(|found| if found == byte { 0x80 } else { 0 }));
            let marks = likely_brackets(u64::from_le_bytes(bytes)).to_le_bytes();
            for (found, mark) in bytes.iter().zip(marks) {
                let is_bracket = b"{}[]".contains(found);
                prop_assert!(!is_bracket || mark == 0x80);
            }
        }
    }
}

//! Searches of a text, eight bytes at a time.

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

/// The position of the first byte that JSON forbids everywhere: a control character other than tab and line ends.
pub(crate) fn first_control(text: &[u8]) -> Option<usize> {
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
    let (words, rest) = text.as_chunks::<8>();
    for (number, bytes) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*bytes);
        // A byte below a blank borrows from its highest bit. Wrong marks are excluded by a second look.
        let marks = word.wrapping_sub(ONES * u64::from(b' ')) & !word & !LOW_BITS;
        if marks != 0
            && let Some(place) = bytes.iter().position(is_control)
        {
            return Some(8 * number + place);
        }
    }
    rest.iter().position(is_control).map(|place| text.len() - rest.len() + place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn control_characters_are_found(text in prop::collection::vec(prop_oneof![0_u8..40, any::<u8>()], 0..40)) {
            let is_control = |byte: &u8| byte.is_ascii_control() && !b"\t\n\r\x7f".contains(byte);
            prop_assert_eq!(first_control(&text), text.iter().position(is_control));
        }

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

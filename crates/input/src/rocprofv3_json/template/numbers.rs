//! Integers, eight digits at a time.

const ZEROS: u64 = 0x3030_3030_3030_3030;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
/// Added to a byte minus `0`, this sets the highest bit for all values above 9.
const ABOVE_NINE: u64 = 0x7676_7676_7676_7676;
const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
const TEN_TO_8: u64 = 100_000_000;
/// Maximum number of digits that always fit into 64 bits.
const MAX_DIGITS: usize = 19;

/// Number of leading digits in a word.
fn leading_digits(word: u64) -> usize {
    let values = word ^ ZEROS;
    // A carry out of a byte only reaches bytes after the first that is not a digit.
    let others = (values.wrapping_add(ABOVE_NINE) | values) & HIGH_BITS;
    (others.trailing_zeros() / 8) as usize
}

/// The number in the first `digits` bytes of a word, 1 to 8.
fn value_of(word: u64, digits: usize) -> u64 {
    let shift = 64_u32.saturating_sub(8 * digits as u32);
    let ones = (word << shift) & 0x0f0f_0f0f_0f0f_0f0f;
    let tens = (ones.wrapping_mul(2_561) >> 8) & 0x00ff_00ff_00ff_00ff;
    let hundreds = (tens.wrapping_mul(6_553_601) >> 16) & 0x0000_ffff_0000_ffff;
    hundreds.wrapping_mul(42_949_672_960_001) >> 32
}

fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The integer at the start of a text and its length; numbers above 2^63 keep their bits. `None` if it is not spelled as in JSON, or has
/// more than 19 digits.
#[inline]
pub fn integer(bytes: &[u8]) -> Option<(i64, usize)> {
    let word = u64::from_le_bytes(*bytes.first_chunk()?);
    let digits = leading_digits(word);
    if is_usual(word, digits) { Some((value_of(word, digits) as i64, digits)) } else { unusual(bytes, word, digits) }
}

/// Works like [`integer`], without the value.
#[inline]
pub(crate) fn skip_integer(bytes: &[u8]) -> Option<usize> {
    let word = u64::from_le_bytes(*bytes.first_chunk()?);
    let digits = leading_digits(word);
    if is_usual(word, digits) { Some(digits) } else { Some(unusual(bytes, word, digits)?.1) }
}

/// Whether the number ends in its first word, and is without leading zeros.
#[inline]
fn is_usual(word: u64, digits: usize) -> bool {
    digits.wrapping_sub(1) < 7 && (digits == 1 || word & 0xff != u64::from(b'0'))
}

fn unusual(bytes: &[u8], word: u64, digits: usize) -> Option<(i64, usize)> {
    if digits == 0 {
        return negative(bytes);
    }
    if word & 0xff == u64::from(b'0') {
        return (digits == 1).then_some((0, 1));
    }
    let (mut value, mut length) = (value_of(word, 8), 8);
    while length < MAX_DIGITS {
        let word = word_at(bytes, length)?;
        let digits = leading_digits(word);
        if digits == 0 {
            break;
        }
        let digits = digits.min(MAX_DIGITS.saturating_sub(length));
        let power = POWERS.get(digits).copied().unwrap_or(TEN_TO_8);
        value = value.wrapping_mul(power).wrapping_add(value_of(word, digits));
        length += digits;
        if digits < 8 {
            break;
        }
    }
    let ends = bytes.get(length).is_none_or(|byte| !byte.is_ascii_digit());
    ends.then_some((value as i64, length))
}

/// A negative number of less than 19 digits. -0 is excluded, because parsers read it as a float.
fn negative(bytes: &[u8]) -> Option<(i64, usize)> {
    let digits = bytes.strip_prefix(b"-")?;
    if !digits.first()?.is_ascii_digit() {
        return None;
    }
    let (value, length) = integer(digits)?;
    (value != 0 && length < MAX_DIGITS).then(|| (value.wrapping_neg(), length + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn padded(text: &str) -> Vec<u8> {
        [text.as_bytes(), &[0; 32]].concat()
    }

    #[test]
    fn what_is_no_integer_of_json_is_refused() {
        for text in [
            "",
            "-",
            "-0",
            "01",
            "00",
            "007",
            "-01",
            "a",
            "--1",
            "-a",
            "+1",
            "12345678901234567890",
            "-1234567890123456789",
        ] {
            assert_eq!(integer(&padded(text)), None, "{text}");
            assert_eq!(skip_integer(&padded(text)), None, "{text}");
        }
        assert_eq!(integer(&padded("0,")), Some((0, 1)));
        assert_eq!(integer(&padded("1.5")), Some((1, 1)));
        assert_eq!(integer(&padded("9999999999999999999}")), Some((9_999_999_999_999_999_999_u64 as i64, 19)));
    }

    proptest! {
        #[test]
        fn integers_are_read_as_by_the_standard_library(
            number in prop_oneof![any::<i64>(), -1000_i64..100_000, any::<i64>().prop_map(|n| n >> 20)],
            behind in "[,} ./:a-z]{0,9}",
        ) {
            let text = format!("{number}{behind}");
            let expected = (number >= 0 || number.unsigned_abs() < 1_000_000_000_000_000_000)
                .then(|| (number, number.to_string().len()));
            prop_assert_eq!(integer(&padded(&text)), expected);
            prop_assert_eq!(skip_integer(&padded(&text)), expected.map(|found| found.1));
        }
    }
}

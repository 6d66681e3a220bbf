//! The interpretation of number fields.

/// A number field: a value, no value, or a text that is not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parsed<T> {
    Value(T),
    /// An empty field, or a word for a missing value.
    Missing,
    /// Not a number.
    Bad,
}

impl<T> Parsed<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Bad, Self::Value)
    }
}

/// An integer: decimal, hexadecimal after `0x` (wrapped above the maximum), or a floating point number, which is truncated.
pub fn integer(field: &[u8]) -> Parsed<i64> {
    if let Some(value) = plain_integer(field) {
        return Parsed::Value(value);
    }
    let Some(text) = trimmed(field) else { return Parsed::Missing };
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return Parsed::from(u64::from_str_radix(digits, 16).ok().map(u64::cast_signed));
    }
    if let Ok(value) = text.parse::<i64>() {
        return Parsed::Value(value);
    }
    if let Ok(value) = text.parse::<u64>() {
        return Parsed::Value(value.cast_signed());
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_nan() => Parsed::Missing,
        Ok(value) if value.abs() < 9.2e18 => Parsed::Value(value as i64),
        _ => Parsed::Bad,
    }
}

/// Plain digits, the usual case.
pub(crate) fn plain_integer(field: &[u8]) -> Option<i64> {
    if field.is_empty() || field.len() > 18 {
        return None;
    }
    field.iter().try_fold(0_i64, |value, byte| {
        byte.is_ascii_digit().then(|| value.wrapping_mul(10).wrapping_add(i64::from(byte.wrapping_sub(b'0'))))
    })
}

/// A floating point number; values that are not finite are missing.
pub fn float(field: &[u8]) -> Parsed<f64> {
    let Some(text) = trimmed(field) else { return Parsed::Missing };
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Parsed::Value(value),
        Ok(_) => Parsed::Missing,
        Err(_) => match integer(field) {
            Parsed::Value(value) => Parsed::Value(value as f64),
            Parsed::Missing => Parsed::Missing,
            Parsed::Bad => Parsed::Bad,
        },
    }
}

/// The text without blanks and stray quotes; `None` if nothing is left, or a word for a missing value.
pub fn trimmed(field: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(field).unwrap_or("?").trim().trim_matches('"').trim();
    let is_nothing =
        text.is_empty() || ["null", "none", "n/a", "na"].iter().any(|word| text.eq_ignore_ascii_case(word));
    (!is_nothing).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers() {
        for (field, value) in [
            ("12", Parsed::Value(12)),
            (" -7 ", Parsed::Value(-7)),
            ("0x00007ffb26354000", Parsed::Value(0x7ffb_2635_4000)),
            ("0xffffffffffffffff", Parsed::Value(-1)),
            ("18446744073709551615", Parsed::Value(-1)),
            ("1.50e3", Parsed::Value(1500)),
            ("10.625000", Parsed::Value(10)),
            ("", Parsed::Missing),
            ("\"", Parsed::Missing),
            ("nan", Parsed::Missing),
            ("None", Parsed::Missing),
            ("inf", Parsed::Bad),
            ("12 ns", Parsed::Bad),
            ("0x", Parsed::Bad),
        ] {
            assert_eq!(integer(field.as_bytes()), value, "{field}");
        }
    }

    #[test]
    fn floats() {
        for (field, value) in [
            ("10.625000", Parsed::Value(10.625)),
            ("16384", Parsed::Value(16384.0)),
            ("0x10", Parsed::Value(16.0)),
            ("inf", Parsed::Missing),
            ("", Parsed::Missing),
            ("fast", Parsed::Bad),
        ] {
            assert_eq!(float(field.as_bytes()), value, "{field}");
        }
    }

    proptest! {
        #[test]
        fn every_integer_is_read(value in any::<i64>()) {
            prop_assert_eq!(integer(value.to_string().as_bytes()), Parsed::Value(value));
        }

        #[test]
        fn any_bytes_are_something(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let _ = (integer(&bytes), float(&bytes));
        }
    }
}

//! Values as SQLite stores them, and the conversion of values of unexpected types.

use wavesieve_model::text::bytes::text_of_bytes;

/// A value of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    /// A text, which need not be UTF-8.
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

/// Type of a value that was not expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnexpectedType {
    Real,
    /// A text. If a text was expected, it is not UTF-8.
    Text,
    /// Bytes. If a text was expected, they are not a text.
    Blob,
}

/// The value for a column of integers, and its actual type if that is unexpected.
pub(crate) fn integer_of(value: Value<'_>) -> (Option<i64>, Option<UnexpectedType>) {
    match value {
        Value::Null => (None, None),
        Value::Integer(integer) => (Some(integer), None),
        Value::Real(real) => (integer_of_real(real), Some(UnexpectedType::Real)),
        Value::Text(bytes) => (number_in(bytes), Some(UnexpectedType::Text)),
        Value::Blob(_) => (None, Some(UnexpectedType::Blob)),
    }
}

/// The value for a column of reals, and its actual type if that is unexpected. Integers are accepted as reals.
pub(crate) fn real_of(value: Value<'_>) -> (Option<f64>, Option<UnexpectedType>) {
    match value {
        Value::Null => (None, None),
        Value::Integer(integer) => (Some(integer as f64), None),
        Value::Real(real) => (Some(real), None),
        Value::Text(bytes) => (number_in(bytes), Some(UnexpectedType::Text)),
        Value::Blob(_) => (None, Some(UnexpectedType::Blob)),
    }
}

/// The value for a column of texts, and its actual type if that is unexpected. Numbers are printed; `text_of_blob` returns the text in a
/// blob, if there is one.
pub fn text_of(
    value: Value<'_>,
    text_of_blob: fn(&[u8]) -> Option<String>,
) -> (Option<String>, Option<UnexpectedType>) {
    match value {
        Value::Null => (None, None),
        Value::Integer(integer) => (Some(integer.to_string()), None),
        Value::Real(real) => (Some(real.to_string()), None),
        Value::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => (Some(text.to_owned()), None),
            Err(_) => (Some(text_of_bytes(bytes).into_owned()), Some(UnexpectedType::Text)),
        },
        Value::Blob(bytes) => {
            let text = text_of_blob(bytes);
            let odd = text.is_none().then_some(UnexpectedType::Blob);
            (text, odd)
        }
    }
}

fn number_in<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok())
}

/// The integer for a real. SQLite stores integers above 2^63 (addresses, handles) as reals; the result has the bits of the unsigned number.
fn integer_of_real(real: f64) -> Option<i64> {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    if real.is_nan() || !(-TWO_TO_63..=TWO_TO_64).contains(&real) {
        return None;
    }
    if real < TWO_TO_63 { Some(real as i64) } else { Some((real as u64) as i64) }
}

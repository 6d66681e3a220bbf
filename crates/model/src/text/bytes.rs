//! Texts that may hold bytes that are not UTF-8.

use std::borrow::Cow;
use std::ffi::OsStr;

/// A text in which U+FFFD and two hexadecimal digits replace each byte that is not UTF-8. So names that differ only in
/// such bytes stay different.
pub fn text_of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("{}{byte:02x}", char::REPLACEMENT_CHARACTER));
        }
    }
    Cow::Owned(text)
}

/// The name of a file or a path, converted in the same way. Two files have the same text only if their names are the
/// same.
pub fn text_of_name(name: impl AsRef<OsStr>) -> String {
    text_of_bytes(name.as_ref().as_encoded_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_in_bytes_stay_apart() {
        assert_eq!(text_of_bytes("void é<float>()".as_bytes()), "void é<float>()");
        assert_eq!(text_of_bytes(b"k\xff_\xc3"), "k\u{fffd}ff_\u{fffd}c3");
        assert_eq!(text_of_bytes(b"\xe2\x82x"), "\u{fffd}e2\u{fffd}82x");
        assert_ne!(text_of_bytes(b"k\xff"), text_of_bytes(b"k\xfe"));
    }
}

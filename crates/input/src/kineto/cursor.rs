//! A position in a JSON text. It reads values one by one, without copying them.

use std::borrow::Cow;

use super::brackets::{OpenBrackets, length_of_brackets};
use wavesieve_model::text::bytes::text_of_bytes;

/// Brackets that may be open in a value at the same time.
pub(super) const MAX_DEPTH: u32 = 63;

/// Reason why a value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The text ends within it.
    Ends,
    /// It is not JSON.
    Malformed(&'static str),
}

/// A line ends within a text.
pub(super) const UNCLOSED: Stop = Stop::Malformed("a string is not closed");

/// A text between quotes, as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quoted<'a> {
    pub raw: &'a [u8],
    pub has_escapes: bool,
}

impl<'a> Quoted<'a> {
    /// The text itself. Bytes that are not UTF-8 are shown as [`text_of_bytes`] does.
    pub fn text(self) -> Cow<'a, str> {
        let plain = text_of_bytes(self.raw);
        if !self.has_escapes {
            return plain;
        }
        // Some writers do not escape backslashes in paths. JSON parsers reject that.
        unescaped(&plain).map_or(plain, Cow::Owned)
    }

    /// Whether it has a lone half of a surrogate pair, so that a letter is lost.
    pub(crate) fn has_lone_surrogate(self) -> bool {
        let count = |text: &str| text.matches(char::REPLACEMENT_CHARACTER).count();
        self.has_escapes && count(&self.text()) > count(&text_of_bytes(self.raw))
    }
}

/// Resolves the escapes of a text. A lone half of a surrogate pair becomes U+FFFD. `None` if an escape is not valid.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut letters = behind.chars();
        let escape = letters.next()?;
        rest = letters.as_str();
        plain.push(match escape {
            '"' | '\\' | '/' => escape,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (unit, behind) = code_unit(rest)?;
                rest = behind;
                match (unit, rest.strip_prefix("\\u").and_then(code_unit)) {
                    (0xd800..=0xdbff, Some((low @ 0xdc00..=0xdfff, behind))) => {
                        rest = behind;
                        char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
                    }
                    _ => char::from_u32(unit),
                }
                .unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return None,
        });
    }
    plain.push_str(rest);
    Some(plain)
}

/// The value of four hexadecimal digits at the start of a text, and the rest.
fn code_unit(text: &str) -> Option<(u32, &str)> {
    let (digits, behind) = text.split_at_checked(4)?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then(|| Some((u32::from_str_radix(digits, 16).ok()?, behind)))?
}

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether texts may hold line ends.
    allows_lines: bool,
}

impl<'a> Cursor<'a> {
    /// The place `at` bytes from the start of a text.
    pub fn new(text: &'a [u8], at: usize) -> Self {
        Self { text, at, allows_lines: false }
    }

    /// Like [`new`](Self::new), but texts may hold line ends: some writers do not escape them.
    pub(crate) fn lenient(text: &'a [u8], at: usize) -> Self {
        Self { text, at, allows_lines: true }
    }

    /// The same place, but texts may hold line ends.
    pub(crate) fn with_lines(self) -> Self {
        Self { allows_lines: true, ..self }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    /// The text up to here.
    pub fn before(&self) -> &'a [u8] {
        self.text.get(..self.at).unwrap_or_default()
    }

    /// The text from here on.
    pub fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Passes over this many bytes.
    pub fn pass(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    /// The next byte that is not blank. It is not passed.
    #[inline]
    pub fn peek(&mut self) -> Result<u8, Stop> {
        match self.text.get(self.at) {
            Some(byte) if !byte.is_ascii_whitespace() => Ok(*byte),
            _ => self.peek_behind_blanks(),
        }
    }

    fn peek_behind_blanks(&mut self) -> Result<u8, Stop> {
        let rest = self.rest();
        let blanks = rest.iter().position(|byte| !byte.is_ascii_whitespace()).ok_or(Stop::Ends)?;
        self.at += blanks;
        rest.get(blanks).copied().ok_or(Stop::Ends)
    }

    /// Passes over the next byte that is not blank if it is this one.
    pub fn take(&mut self, byte: u8) -> Result<bool, Stop> {
        let found = self.peek()? == byte;
        self.at += usize::from(found);
        Ok(found)
    }

    /// Passes over this byte and blanks before it.
    pub fn expect(&mut self, byte: u8, otherwise: &'static str) -> Result<(), Stop> {
        if self.take(byte)? { Ok(()) } else { Err(Stop::Malformed(otherwise)) }
    }

    /// A text between quotes.
    pub fn quoted(&mut self) -> Result<Quoted<'a>, Stop> {
        self.expect(b'"', "a quote is missing")?;
        let start = self.at;
        let mut has_escapes = false;
        loop {
            let rest = self.rest();
            let length = end_of_text(rest).ok_or(Stop::Ends)?;
            self.at += length;
            match rest.get(length) {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    self.at += 2;
                }
                Some(b'\n') if self.allows_lines => self.at += 1,
                // A string never holds a bare line end: a quote was lost.
                _ => return Err(UNCLOSED),
            }
        }
        let raw = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        Ok(Quoted { raw, has_escapes })
    }

    /// Passes over the key of a member and its colon.
    pub fn key(&mut self) -> Result<Quoted<'a>, Stop> {
        let key = self.quoted()?;
        self.expect(b':', "a colon is missing")?;
        Ok(key)
    }

    /// Passes over the key of a member and its colon. This is faster for the `likely` key, which is given with quotes and colon.
    pub(crate) fn key_like(&mut self, likely: &'static [u8]) -> Result<&'a [u8], Stop> {
        self.peek()?;
        if !self.rest().starts_with(likely) {
            return Ok(self.key()?.raw);
        }
        self.at += likely.len();
        Ok(likely.strip_prefix(b"\"").and_then(|key| key.strip_suffix(b"\":")).unwrap_or_default())
    }

    /// Passes over a value, and returns it if it is a text.
    pub fn text(&mut self) -> Result<Option<Quoted<'a>>, Stop> {
        if self.peek()? == b'"' { self.quoted().map(Some) } else { self.value().map(|_| None) }
    }

    /// A value as it was written.
    pub fn value(&mut self) -> Result<&'a [u8], Stop> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => drop(self.quoted()?),
            b'{' | b'[' => match length_of_brackets(self.rest()) {
                Some(length) => self.at += length,
                None => self.pass_brackets()?,
            },
            _ => self.pass_word()?,
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Passes over a number or a word, up to a byte that can follow a value. Some writers put any word there, such as `N/A`.
    fn pass_word(&mut self) -> Result<(), Stop> {
        let rest = self.rest();
        let is_of_word = |byte: &u8| {
            byte.is_ascii_graphic() && !matches!(byte, b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']' | b'\\')
        };
        let length = rest.iter().position(|byte| !is_of_word(byte)).ok_or(Stop::Ends)?;
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']');
        if length == 0 || !rest.get(length).is_some_and(is_end) {
            return Err(Stop::Malformed("a value is missing"));
        }
        self.at += length;
        Ok(())
    }

    /// Passes over the rest of a value that cannot be read, up to the comma or bracket behind it.
    fn pass_rest(&mut self) -> Result<(), Stop> {
        loop {
            match self.peek()? {
                b',' | b'}' | b']' => return Ok(()),
                b'"' => drop(self.quoted()?),
                b'{' | b'[' => self.pass_brackets()?,
                _ => self.pass(1),
            }
        }
    }

    fn pass_brackets(&mut self) -> Result<(), Stop> {
        let mut open = OpenBrackets::default();
        loop {
            let rest = self.rest();
            let is_structural = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
            let length = rest.iter().position(is_structural).ok_or(Stop::Ends)?;
            self.at += length;
            let byte = rest.get(length).copied().ok_or(Stop::Ends)?;
            if byte == b'"' {
                self.quoted()?;
                continue;
            }
            let is_last = open.pass(byte).ok_or(Stop::Malformed("brackets do not match"))?;
            self.at += 1;
            if is_last {
                return Ok(());
            }
        }
    }
}

/// Maximum bytes of a text that are checked one by one: most keys and values are too short for a search to pay off.
const SHORT_BYTES: usize = 24;

/// The position of the closing quote, or of a backslash or line end before it.
#[inline]
fn end_of_text(rest: &[u8]) -> Option<usize> {
    let short = rest.iter().take(SHORT_BYTES).position(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
    short.or_else(|| {
        let long = memchr::memchr3(b'"', b'\\', b'\n', rest.get(SHORT_BYTES..)?)?;
        Some(SHORT_BYTES + long)
    })
}

/// The members of an object as they were written. A value that cannot be read does not affect the members behind it.
pub fn members(object: &[u8]) -> impl Iterator<Item = (Quoted<'_>, &[u8])> {
    let mut cursor = Cursor::lenient(object, 0);
    let mut opener = b'{';
    std::iter::from_fn(move || {
        if !cursor.take(opener).ok()? {
            if opener == b'{' {
                return None;
            }
            cursor.pass_rest().ok()?;
            if !cursor.take(b',').ok()? {
                return None;
            }
        }
        opener = b',';
        let key = cursor.key().ok()?;
        let at = cursor;
        let value = cursor.value().or_else(|_| {
            cursor = at;
            cursor.pass_rest().map(|()| object.get(at.at..cursor.at).unwrap_or_default().trim_ascii())
        });
        Some((key, value.ok()?))
    })
}

/// Whether a value is a word that JSON does not have, such as `NaN` or `N/A`.
pub(crate) fn is_bare_word(value: &[u8]) -> bool {
    let unsigned = value.strip_prefix(b"-").unwrap_or(value);
    let is_value = unsigned.first().is_some_and(|first| first.is_ascii_digit() || matches!(first, b'"' | b'{' | b'['));
    !is_value && !matches!(value, b"true" | b"false" | b"null")
}

/// The elements of a list as they were written, up to the first that cannot be read.
pub fn elements(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut cursor = Cursor::lenient(list, 0);
    let mut opener = b'[';
    std::iter::from_fn(move || {
        if !cursor.take(opener).ok()? {
            return None;
        }
        opener = b',';
        cursor.value().ok()
    })
}

/// The text of a value, if it is a text.
pub fn text_of(value: &[u8]) -> Option<Quoted<'_>> {
    Cursor::new(value, 0).quoted().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_passed_as_they_are() {
        let text = br#"{"a": [1, {"b": "x]\"}"}], "c" : -1.5e3 , "d":null}"#;
        let found: Vec<(String, String)> = members(text)
            .map(|(key, value)| (key.text().into_owned(), String::from_utf8_lossy(value).into_owned()))
            .collect();
        let expected = [("a", r#"[1, {"b": "x]\"}"}]"#), ("c", "-1.5e3"), ("d", "null")];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert_eq!(elements(b"[1, \"two\", [3]]").collect::<Vec<_>>(), [&b"1"[..], b"\"two\"", b"[3]"]);
        assert_eq!(elements(b"[]").count() + members(b"{}").count(), 0);
    }

    #[test]
    fn damage_is_told_from_an_early_end() {
        for (text, stop) in [
            (&br#"{"a": [1, 2"#[..], Stop::Ends),
            (br#"{"a": "b"#, Stop::Ends),
            (b"{\"a\": \"b\n\"}", Stop::Malformed("a string is not closed")),
            (br#"{"a": [1, 2}"#, Stop::Malformed("brackets do not match")),
        ] {
            assert_eq!(Cursor::new(text, 0).value(), Err(stop), "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(Cursor::new(b", 1", 0).value(), Err(Stop::Malformed("a value is missing")));
    }

    proptest::proptest! {
        #[test]
        fn brackets_end_where_they_end_byte_by_byte(text in r#"[{\[]([\[\]{}",:ya1\\\n]|"[a{}]*"){0,120}"#) {
            let mut bytewise = Cursor::new(text.as_bytes(), 0);
            let passed = bytewise.pass_brackets();
            if let Some(length) = length_of_brackets(text.as_bytes()) {
                proptest::prop_assert_eq!((passed, bytewise.at()), (Ok(()), length));
            }
            let has_escape = text.contains('\\');
            if passed.is_ok() && bytewise.at() + 8 <= text.len() && !has_escape {
                proptest::prop_assert_eq!(length_of_brackets(text.as_bytes()), Some(bytewise.at()));
            }
        }
    }

    #[test]
    fn escapes_are_resolved_where_they_are_valid() {
        for (raw, text) in [
            (&br"a\u00e9\n"[..], "aé\n"),
            (br"C:\dir", r"C:\dir"),
            (br"C:\Users\new", r"C:\Users\new"),
            (b"\xff", "\u{fffd}ff"),
            (br#"\ud83d\ude00 \ud800 \"x\/"#, "\u{1f600} \u{fffd} \"x/"),
            (br"\ude00\ud83d\n", "\u{fffd}\u{fffd}\n"),
            (br"\u12", r"\u12"),
            (br"\u+123", r"\u+123"),
            (b"tab\there\\t", "tab\there\t"),
        ] {
            assert_eq!(Quoted { raw, has_escapes: true }.text(), text);
        }
    }

    #[test]
    fn a_value_that_is_none_takes_no_other_along() {
        let text = br#"{"a": N/A, "b": inf, "c": (x, "d": not known, "e": @"x" y, "f": 1}"#;
        let found: Vec<(String, String)> = members(text)
            .map(|(key, value)| (key.text().into_owned(), String::from_utf8_lossy(value).into_owned()))
            .collect();
        let expected = [("a", "N/A"), ("b", "inf"), ("c", "(x"), ("d", "not"), ("e", r#"@"x" y"#), ("f", "1")];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        for (value, is_bare) in
            [("N/A", true), ("-Infinity", true), ("NaN", true), ("-1.5", false), ("null", false), ("{}", false)]
        {
            assert_eq!(is_bare_word(value.as_bytes()), is_bare, "{value}");
        }
    }

    #[test]
    fn texts_may_hold_line_ends_where_that_is_allowed() {
        let text = b"\"a\nb\", 1";
        assert_eq!(Cursor::new(text, 0).value(), Err(UNCLOSED));
        assert_eq!(Cursor::lenient(text, 0).value(), Ok(&b"\"a\nb\""[..]));
        assert_eq!(Cursor::lenient(b"{\"a\": \"b\n}\"}", 0).value(), Ok(&b"{\"a\": \"b\n}\"}"[..]));
    }
}

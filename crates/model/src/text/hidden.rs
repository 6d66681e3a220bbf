//! Characters that are invisible, or that change the look of other characters.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with a visible sign in place of each character that is invisible or changes the direction of writing. Names
/// of kernels may hold any character.
pub fn escape_hidden(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match picture(character) {
            Some(picture) => shown.push(picture),
            None if is_hidden(character) => {
                let _ = write!(shown, "⟨U+{:04X}⟩", u32::from(character));
            }
            None => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// The text with a sign in place of each character that a terminal or a browser may take as a command; tabs and line ends stay.
pub fn escape_commands(text: &str) -> Cow<'_, str> {
    let may_be = |byte: &u8| (*byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) || matches!(byte, 0x7f | 0xc2);
    if !text.as_bytes().iter().any(may_be) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut buffer = [0; 4];
    for character in text.chars() {
        let is_command = character.is_control() && !matches!(character, '\t' | '\n' | '\r');
        let letter: &str = character.encode_utf8(&mut buffer);
        shown.push_str(if is_command { escape_hidden(letter) } else { Cow::Borrowed(letter) }.as_ref());
    }
    Cow::Owned(shown)
}

/// The picture of a control character of ASCII.
pub fn picture(character: char) -> Option<char> {
    match character {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)),
        '\x7f' => Some('␡'),
        _ => None,
    }
}

/// Whether a character is invisible, or changes the look of other characters.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_seen() {
        assert_eq!(escape_hidden("gemm<float>"), "gemm<float>");
        assert_eq!(escape_hidden("a\u{0}b\nc\u{7f}"), "a␀b␊c␡");
        assert_eq!(escape_hidden("a\u{202e}b\u{2028}\u{85}"), "a⟨U+202E⟩b⟨U+2028⟩⟨U+0085⟩");
        assert_eq!(escape_hidden("größe 矩阵"), "größe 矩阵");
        assert_eq!(escape_commands("a\tb\r\n\u{200b}größe £"), "a\tb\r\n\u{200b}größe £");
        assert_eq!(escape_commands("a\u{1b}]8;;\u{7}\u{9b}\u{7f}"), "a␛]8;;␇⟨U+009B⟩␡");
    }
}

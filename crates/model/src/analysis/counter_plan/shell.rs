//! Words of command lines, as bash reads and writes them.

use crate::text::hidden::is_hidden;

/// A word for bash, quoted if needed. Characters that a terminal or an editor would interpret are written as bytes. So
/// a line stays one line and cannot pose as another.
pub fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.,/:=+@%".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.chars().any(is_hidden) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut line = "$'".to_owned();
    for character in word.chars() {
        match character {
            '\n' => line.push_str(r"\n"),
            '\t' => line.push_str(r"\t"),
            '\r' => line.push_str(r"\r"),
            '\\' | '\'' => line.extend(['\\', character]),
            character if is_hidden(character) => {
                let mut bytes = [0; 4];
                line.extend(character.encode_utf8(&mut bytes).bytes().map(|byte| format!(r"\x{byte:02x}")));
            }
            character => line.push(character),
        }
    }
    line.push('\'');
    line
}

/// The words of a line. Blanks separate words, quotes and backslashes hold them together, and nothing is expanded.
/// `None` if a quote is left open or an escape cannot be understood.
pub fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '$' if characters.as_str().starts_with('\'') => {
                characters.next();
                word.get_or_insert_default().push_str(&escaped_text(&mut characters)?);
            }
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '\\' => match characters.next()? {
                            escaped @ ('$' | '`' | '"' | '\\') => word.push(escaped),
                            '\n' => {}
                            other => word.extend(['\\', other]),
                        },
                        other => word.push(other),
                    }
                }
            }
            '\\' => match characters.next()? {
                '\n' => {}
                escaped => word.get_or_insert_default().push(escaped),
            },
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// The text of `$'…'` up to the closing quote: the escapes that [`quoted`] writes.
fn escaped_text(characters: &mut std::str::Chars<'_>) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        match characters.next()? {
            '\'' => return String::from_utf8(bytes).ok(),
            '\\' => match characters.next()? {
                'n' => bytes.push(b'\n'),
                't' => bytes.push(b'\t'),
                'r' => bytes.push(b'\r'),
                'x' => {
                    let (high, low) = (characters.next()?.to_digit(16)?, characters.next()?.to_digit(16)?);
                    bytes.push(u8::try_from(high * 16 + low).ok()?);
                }
                other @ ('\\' | '\'') => bytes.push(other as u8),
                _ => return None,
            },
            other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_read_as_it_was() {
        for (word, line) in [
            ("plain-word=1", "plain-word=1"),
            ("", "''"),
            ("a b", "'a b'"),
            ("kernel'; rm -rf / #", r"'kernel'\''; rm -rf / #'"),
            ("a\nb'c\\", r"$'a\nb\'c\\'"),
            ("\u{1b}[2Jx", r"$'\x1b[2Jx'"),
            ("\u{202e}abc", r"$'\xe2\x80\xaeabc'"),
            ("größe", "'größe'"),
        ] {
            assert_eq!(quoted(word), line);
            assert_eq!(words(line).as_deref(), Some(&[word.to_owned()][..]), "{line}");
        }
        assert_eq!(words("a $'b"), None);
        assert_eq!(words("a\\\nb \\\n c"), Some(["ab", "c"].map(ToOwned::to_owned).to_vec()));
        assert_eq!(words("$5 x"), Some(vec!["$5".to_owned(), "x".to_owned()]));
    }
}

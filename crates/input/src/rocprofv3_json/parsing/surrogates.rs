//! Escapes of half a character. Programs that decode and re-encode invalid UTF-8 write them.

const REPLACEMENT: &str = "\\ufffd";

/// The text with every unpaired surrogate `\uXXXX` replaced by the escape of U+FFFD, and the number of replacements; `None` if there are
/// none.
pub fn mend(text: &str) -> Option<(String, usize)> {
    let mut mended = String::new();
    let (mut copied, mut count, mut at) = (0, 0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + found;
        let unit = escaped_unit(text, start);
        let is_pair = unit.is_some_and(|unit| (0xd800..0xdc00).contains(&unit))
            && escaped_unit(text, start + 6).is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
        at = start
            + if is_pair {
                12
            } else if unit.is_some() {
                6
            } else {
                2
            };
        if !is_pair && unit.is_some_and(|unit| (0xd800..0xe000).contains(&unit)) {
            mended.push_str(text.get(copied..start)?);
            mended.push_str(REPLACEMENT);
            copied = at;
            count += 1;
        }
    }
    if count == 0 {
        return None;
    }
    mended.push_str(text.get(copied..)?);
    Some((mended, count))
}

/// The code unit of the escape `\uXXXX` that starts at an offset.
fn escaped_unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at.checked_add(6)?)?.strip_prefix("\\u")?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::mend;

    #[test]
    fn only_halves_are_replaced() {
        for (text, expected) in [
            (r#""a\udc80b""#, Some((r#""a\ufffdb""#, 1))),
            (
                r#""\ud83d\ude00 \ud83d \ud83d\ud83d\ude00\ud83d""#,
                Some((r#""\ud83d\ude00 \ufffd \ufffd\ud83d\ude00\ufffd""#, 3)),
            ),
            (r#""\\ud800 \u00e9 \n \" \ud8""#, None),
            (r#""\\\ud800\u+123é\"#, Some((r#""\\\ufffd\u+123é\"#, 1))),
            ("é\\é\\ué", None),
        ] {
            assert_eq!(mend(text), expected.map(|(text, count)| (text.to_owned(), count)), "{text}");
        }
    }
}

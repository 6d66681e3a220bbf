//! Words for numbers that JSON does not have but writers emit, and numbers that no machine number can hold.

/// Spellings, the longer before those they begin with.
const WORDS: &[&str] =
    &["-Infinity", "Infinity", "-inf", "inf", "-nan(ind)", "-nan", "nan", "-NaN", "NaN", "-INF", "INF", "-NAN", "NAN"];

/// Length of the number a text begins with, if it is too large to be read: JSON sets no bounds, parsers do.
fn too_large(text: &str) -> Option<usize> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let length = text.bytes().take_while(|byte| is_part(byte)).count();
    let number: f64 = text.get(..length)?.parse().ok()?;
    number.is_infinite().then_some(length)
}

/// The text with every such word outside of strings replaced by an empty string of the same length, which reads as
/// missing; `None` if there is none.
pub fn quiet(text: &str) -> Option<String> {
    let mut quieted = String::new();
    let mut copied = 0;
    let (mut in_string, mut escaped) = (false, false);
    let (mut skip_to, mut previous) = (0, b' ');
    for (at, byte) in text.bytes().enumerate() {
        if at < skip_to {
            continue;
        }
        let begins = !previous.is_ascii_alphanumeric() && !matches!(previous, b'.' | b'+' | b'-');
        previous = byte;
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b'-' | b'I' | b'i' | b'N' | b'n' | b'0'..=b'9') => {
                let rest = text.get(at..).unwrap_or_default();
                let word = WORDS.iter().find(|word| rest.starts_with(**word)).map(|word| word.len());
                if let Some(length) = word.or_else(|| too_large(rest).filter(|_| begins)) {
                    quieted.push_str(text.get(copied..at).unwrap_or_default());
                    quieted.push_str("\"\"");
                    quieted.extend(std::iter::repeat_n(' ', length.saturating_sub(2)));
                    skip_to = at.saturating_add(length);
                    copied = skip_to;
                }
            }
            _ => {}
        }
    }
    if copied == 0 {
        return None;
    }
    quieted.push_str(text.get(copied..).unwrap_or_default());
    Some(quieted)
}

#[cfg(test)]
mod tests {
    use super::quiet;

    #[test]
    fn only_bare_words_are_replaced() {
        let text = r#"{"nan": NaN, "b": "inf \" nan", "c": [-inf,Infinity, -Infinity], "d": null, "e": -1}"#;
        let expected = r#"{"nan": "" , "b": "inf \" nan", "c": [""  ,""      , ""       ], "d": null, "e": -1}"#;
        assert_eq!(quiet(text).as_deref(), Some(expected));
        assert_eq!(quiet(r#"{"nan": "NaN", "n": null}"#), None);
        assert_eq!(
            quiet(r#"{"a": 1e999, "b": [-2.5E+400,1e300]}"#).unwrap(),
            r#"{"a": ""   , "b": [""       ,1e300]}"#
        );
        assert_eq!(quiet(r#"{"a": 1e308, "b": "1e999", "c": 12, "d": 0.00001}"#), None);
    }
}

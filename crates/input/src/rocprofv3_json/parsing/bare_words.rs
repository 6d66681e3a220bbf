//! Words for numbers that are not JSON, but that some programs write.

/// Spellings; a longer word precedes its own prefixes.
const WORDS: &[&str] =
    &["-Infinity", "Infinity", "-inf", "inf", "-nan(ind)", "-nan", "nan", "-NaN", "NaN", "-INF", "INF", "-NAN", "NAN"];

/// The text with every such word outside of strings replaced by an empty string, padded to the same length. It is read as a missing value.
/// `None` if the text has no such word.
pub fn quiet(text: &str) -> Option<String> {
    let mut quieted = String::new();
    let mut copied = 0;
    let (mut in_string, mut escaped) = (false, false);
    let mut skip_to = 0;
    for (at, byte) in text.bytes().enumerate() {
        if at < skip_to {
            continue;
        }
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b'-' | b'I' | b'i' | b'N' | b'n') => {
                let rest = text.get(at..).unwrap_or_default();
                if let Some(word) = WORDS.iter().find(|word| rest.starts_with(**word)) {
                    quieted.push_str(text.get(copied..at).unwrap_or_default());
                    quieted.push_str("\"\"");
                    quieted.extend(std::iter::repeat_n(' ', word.len().saturating_sub(2)));
                    skip_to = at.saturating_add(word.len());
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
    }
}

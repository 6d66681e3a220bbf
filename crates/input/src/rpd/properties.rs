//! Properties that the parsers of texts in RPD databases guarantee for any bytes.

use super::args::parse;

/// A text of arguments gives at least one argument, and a list gives its names and values as they stand.
pub fn rpd_arguments(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let pairs = parse(&text);
    if !text.starts_with('{') {
        assert!(!pairs.is_empty(), "{text}");
        for (name, value) in &pairs {
            assert!(text.contains(name.as_str()) || name == "args", "{text}: {name}");
            assert!(text.contains(value.as_str()), "{text}: {value}");
        }
        let is_list = text.split(" | ").all(|pair| pair.contains('='));
        assert!(is_list || pairs == [("args".to_owned(), text.clone().into_owned())], "{text}: {pairs:?}");
        assert!(!is_list || pairs.len() == text.split(" | ").count(), "{text}: {pairs:?}");
    }
}

//! SQLite addresses for reading without any writing.

use std::path::Path;

use anyhow::{Context, Result};

/// `file:` address of a database for reading in place. It is read-only and immutable, so that no file is created, locked or written.
///
/// # Errors
/// When the path is not absolute and the current directory is unknown, or it is not UTF-8.
pub fn read_only_uri(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path).with_context(|| format!("cannot resolve {}", path.display()))?;
    let text = absolute.to_str().with_context(|| format!("the path {} is not UTF-8, rename it", path.display()))?;
    Ok(format!("file:{}?mode=ro&immutable=1", percent_encoded(text)))
}

/// Escapes characters with a meaning in an address.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => encoded.push_str("%25"),
            '?' => encoded.push_str("%3F"),
            '#' => encoded.push_str("%23"),
            other => encoded.push(other),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        let uri = read_only_uri(Path::new("/a b/50%?#.db")).unwrap();
        assert_eq!(uri, "file:/a b/50%25%3F%23.db?mode=ro&immutable=1");
    }
}

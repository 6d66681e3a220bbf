//! Keywords that DuckDB quotes if they are names.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The keywords of DuckDB, one a line.
static KEYWORDS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| data!("share/sql/keywords.txt").lines().collect());

/// A name as written in a statement, with quotes if it needs them.
pub fn quoted(name: &str) -> String {
    let is_bare = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_bare && !KEYWORDS.contains(name.to_lowercase().as_str()) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

//! The variables that a program is given.

use std::ffi::OsString;

use super::tables::tables;

/// The variables of this process that a program may see, with those that are set for it.
pub(super) fn child_environment(set: &[(String, String)]) -> Vec<(OsString, OsString)> {
    let own = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_allowed));
    own.chain(set.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

/// Whether a variable is in the list, and names no key or token.
pub(super) fn is_allowed(name: &str) -> bool {
    let table = &tables().environment;
    let is_secret = name.split('_').any(|part| table.secret.iter().any(|secret| secret.eq_ignore_ascii_case(part)));
    !is_secret && table.allowed.iter().any(|pattern| fits(name, pattern))
}

/// Whether a name fits a pattern, which may have a `*` at either end.
fn fits(name: &str, pattern: &str) -> bool {
    let inner = pattern.trim_matches('*');
    match (pattern.starts_with('*'), pattern.ends_with('*')) {
        (true, true) => name.contains(inner),
        (true, false) => name.ends_with(inner),
        (false, true) => name.starts_with(inner),
        (false, false) => name == pattern,
    }
}

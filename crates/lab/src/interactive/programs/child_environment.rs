//! The environment variables of a child program.

use std::ffi::OsString;

use super::tables::tables;

/// The variables of this process that a program may see, and the variables that are set for it.
pub(super) fn child_environment(set: &[(String, String)]) -> Vec<(OsString, OsString)> {
    let own = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_allowed));
    own.chain(set.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

/// Sorted names of variables that a program does not see but may miss; keys and tokens are left out.
pub fn withheld_variables() -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| !is_secret(name) && !is_allowed(name) && !is_unmissed(name)).collect();
    names.sort();
    names
}

fn is_unmissed(name: &str) -> bool {
    tables().environment.unmissed.iter().any(|pattern| fits(name, pattern))
}

/// Returns whether a name looks like a key or token.
fn is_secret(name: &str) -> bool {
    let secret = &tables().environment.secret;
    name.split('_').any(|part| secret.iter().any(|word| word.eq_ignore_ascii_case(part)))
}

/// Returns whether a variable is in the list and does not look like a key or token.
pub(super) fn is_allowed(name: &str) -> bool {
    !is_secret(name) && tables().environment.allowed.iter().any(|pattern| fits(name, pattern))
}

/// Returns whether a name matches a pattern, which may have a `*` at either end.
fn fits(name: &str, pattern: &str) -> bool {
    let inner = pattern.trim_matches('*');
    match (pattern.starts_with('*'), pattern.ends_with('*')) {
        (true, true) => name.contains(inner),
        (true, false) => name.ends_with(inner),
        (false, true) => name.starts_with(inner),
        (false, false) => name == pattern,
    }
}

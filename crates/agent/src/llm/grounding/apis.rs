//! Names of application programming interfaces: `share/llm/api_names.toml`.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde::Deserialize;

const NAMES: &str = data!("share/llm/api_names.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApiFamiliesFile {
    family: Vec<Family>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    prefixes: Vec<String>,
    names: BTreeSet<String>,
}

fn families() -> &'static [Family] {
    static FORM: OnceLock<ApiFamiliesFile> = OnceLock::new();
    &FORM.get_or_init(|| toml::from_str(NAMES).unwrap_or_default()).family
}

/// Returns whether a word looks like a name of an interface: its prefix, followed by a capital letter.
pub(crate) fn is_of_interface(word: &str) -> bool {
    let begins = |prefix: &String| {
        word.strip_prefix(prefix.as_str())
            .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
    };
    families().iter().any(|family| family.prefixes.iter().any(begins))
}

/// Returns whether an interface has this name.
pub(crate) fn is_in_interface(word: &str) -> bool {
    families().iter().any(|family| family.names.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let form: ApiFamiliesFile = toml::from_str(NAMES).unwrap();
        let begins =
            |family: &Family, name: &str| family.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()));
        assert!(form.family.iter().all(|family| family.names.iter().all(|name| begins(family, name))));
        for name in ["hipStreamSynchronize", "hipEventDisableTiming", "ncclAllReduce", "roctxRangePush"] {
            assert!(is_of_interface(name) && is_in_interface(name), "{name}");
        }
        assert!(is_of_interface("hipMagicUnicorn") && !is_in_interface("hipMagicUnicorn"));
        assert!(!is_of_interface("hipster") && !is_of_interface("rcclx"));
    }
}

//! What of other programs is read, written and recommended, and when that was last compared with them: `share/upstream.toml`.

use std::sync::OnceLock;

use serde::Deserialize;

use super::counter_plan::RocmVersion;

const TABLE: &str = include_str!("../../share/upstream.toml");

/// The whole table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Upstream {
    /// Formats of files.
    pub format: Vec<Format>,
    /// Tables of facts.
    pub facts: Vec<Facts>,
}

/// A format of files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Format {
    /// Its id, as `info` shows it.
    pub id: String,
    pub title: String,
    /// What of it is read.
    pub read: Option<String>,
    /// What writes it.
    pub written: Option<String>,
    /// Where commands ask for it.
    pub recommended: Option<String>,
    pub source: String,
    /// Day of the last comparison.
    pub checked: String,
    #[serde(default)]
    pub version: Vec<Version>,
}

/// A version of a schema.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Version {
    pub name: String,
    /// First release of ROCm that writes it.
    pub rocm: Option<RocmVersion>,
    /// What it adds to the one before.
    pub adds: String,
}

/// A table of facts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    /// Where it is in `share/`.
    pub file: String,
    pub about: String,
    pub source: String,
    pub checked: String,
}

/// The table; a test reads it.
pub(crate) fn upstream() -> &'static Upstream {
    static READ: OnceLock<Upstream> = OnceLock::new();
    READ.get_or_init(|| toml::from_str(TABLE).unwrap_or_default())
}

/// The versions of a format that are known.
pub(crate) fn versions(format: &str) -> impl Iterator<Item = &'static Version> {
    upstream().format.iter().filter(move |known| known.id == format).flat_map(|known| &known.version)
}

/// The first release of ROCm that writes a version of a format.
pub(crate) fn first_release(format: &str, version: &str) -> Option<RocmVersion> {
    versions(format).find(|known| known.name == version)?.rocm
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_table_is_read_and_dated() {
        let read: Upstream = toml::from_str(TABLE).unwrap();
        let ids: BTreeSet<&String> = read.format.iter().map(|format| &format.id).collect();
        assert_eq!(ids.len(), read.format.len());
        let is_day = |text: &str| {
            let parts: Vec<Option<u32>> = text.split('-').map(|part| part.parse().ok()).collect();
            matches!(parts.as_slice(), [Some(2026..), Some(1..=12), Some(1..=31)])
        };
        for format in &read.format {
            assert!(is_day(&format.checked) && !format.source.is_empty(), "{}", format.id);
            assert!(format.read.is_some() || format.written.is_some(), "{}", format.id);
        }
        for facts in &read.facts {
            assert!(is_day(&facts.checked), "{}", facts.file);
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("share").join(&facts.file).exists(), "{}", facts.file);
        }
        assert_eq!(first_release("rocpd", "3.0.2"), Some(RocmVersion::new(10, 0)));
        assert_eq!(first_release("rocpd", "9"), None);
    }
}

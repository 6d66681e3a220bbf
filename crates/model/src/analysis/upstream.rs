//! Formats and options of other programs that are read, written or recommended, with the day of the last comparison:
//! `share/upstream.toml`.

use serde::Deserialize;

use super::counter_plan::RocmVersion;

/// The whole table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// Formats of files.
    pub format: Vec<Format>,
    /// Tables of facts.
    pub facts: Vec<Facts>,
}

/// A format of files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// Its id, as `info` shows it.
    pub id: String,
    pub title: String,
    /// The part of it that is read.
    pub read: Option<String>,
    /// The command that writes it.
    pub written: Option<String>,
    /// Place where commands request it.
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
pub struct Version {
    pub name: String,
    /// First release of ROCm that writes it.
    pub rocm: Option<RocmVersion>,
    /// Its additions to the previous version.
    pub adds: String,
}

/// A table of facts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Its path in `share/`.
    pub file: String,
    pub about: String,
    pub source: String,
    pub checked: String,
}

/// The table.
pub fn upstream() -> &'static Upstream {
    shared!(Upstream, "share/upstream.toml")
}

/// The versions of a format that are known.
pub fn versions(format: &str) -> impl Iterator<Item = &'static Version> {
    upstream().format.iter().filter(move |known| known.id == format).flat_map(|known| &known.version)
}

/// The first release of ROCm that writes a version of a format.
pub fn first_release(format: &str, version: &str) -> Option<RocmVersion> {
    versions(format).find(|known| known.name == version)?.rocm
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_table_is_read_and_dated() {
        let read: Upstream = toml::from_str(data!("share/upstream.toml")).unwrap();
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
            assert!(
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../../share").join(&facts.file).exists(),
                "{}",
                facts.file
            );
        }
        assert_eq!(first_release("rocpd", "3.0.2"), Some(RocmVersion::new(10, 0)));
        assert_eq!(first_release("rocpd", "9"), None);
    }

    /// Whole texts of tables that are LLVM names of architectures.
    fn architectures(value: &toml::Value, into: &mut BTreeSet<String>) {
        match value {
            toml::Value::String(text) => {
                let is_name = text.strip_prefix("gfx").is_some_and(|rest| {
                    let is_plain = |part: &str| !part.is_empty() && part.chars().all(|one| one.is_ascii_hexdigit());
                    is_plain(rest) || rest.strip_suffix("-generic").is_some_and(|rest| rest.split('-').all(is_plain))
                });
                if is_name {
                    into.insert(text.clone());
                }
            }
            toml::Value::Array(values) => values.iter().for_each(|value| architectures(value, into)),
            toml::Value::Table(table) => table.values().for_each(|value| architectures(value, into)),
            _ => {}
        }
    }

    fn tables(directory: &Path, into: &mut Vec<toml::Value>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                tables(&path, into);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                into.push(std::fs::read_to_string(&path).unwrap().parse::<toml::Table>().unwrap().into());
            }
        }
    }

    /// Architectures of a table, by the names in the entries of these kinds.
    fn named(text: &str, kinds: [&str; 2]) -> BTreeSet<String> {
        let table: toml::Table = text.parse().unwrap();
        let mut names = BTreeSet::new();
        for entry in kinds.iter().flat_map(|kind| table[*kind].as_array().unwrap()) {
            for key in ["name", "names"] {
                entry.get(key).iter().for_each(|value| architectures(value, &mut names));
            }
        }
        names
    }

    #[test]
    fn every_architecture_has_figures_and_blocks_or_is_said_to_be_unknown() {
        let share = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../share");
        let mut all = Vec::new();
        tables(&share, &mut all);
        let mut mentioned = BTreeSet::new();
        all.iter().for_each(|table| architectures(table, &mut mentioned));
        assert!(mentioned.len() > 30 && mentioned.contains("gfx1250"), "{mentioned:?}");
        let figures = named(data!("share/gpus.toml"), ["architecture", "unknown"]);
        assert_eq!(mentioned.difference(&figures).collect::<Vec<_>>(), [""; 0], "gpus.toml");
        let blocks = named(data!("share/counter_blocks.toml"), ["architecture", "unknown"]);
        assert_eq!(mentioned.difference(&blocks).collect::<Vec<_>>(), [""; 0], "counter_blocks.toml");
    }
}

//! Peak bandwidths of links by architecture, which templates write into their statements.

use std::sync::OnceLock;

use minijinja::value::Value;
use serde::Deserialize;

/// `share/links.toml`, which documents the meaning and sources of the figures.
const LINKS: &str = data!("share/links.toml");

/// Links of one architecture.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// LLVM target, such as gfx942.
    pub name: String,
    /// Link to the host in 10⁹ bytes per second and direction.
    pub host: f64,
    /// One link to another GPU in 10⁹ bytes per second and direction.
    pub peer: f64,
    /// Memory in 10⁹ bytes per second.
    pub memory: f64,
    /// Transfers of the memory per recorded clock.
    pub transfers_per_clock: i64,
    /// Sources of the figures.
    pub sources: Vec<String>,
}

impl Links {
    /// The value for templates, without the sources.
    pub fn value(&self) -> Value {
        Value::from_pairs([
            ("name", Value::from(self.name.clone())),
            ("host", Value::from(self.host)),
            ("peer", Value::from(self.peer)),
            ("memory", Value::from(self.memory)),
            ("transfers_per_clock", Value::from(self.transfers_per_clock)),
        ])
    }
}

#[derive(Deserialize)]
struct LinksFile {
    architecture: Vec<Links>,
}

/// The known architectures in the order of the file.
pub fn links() -> &'static [Links] {
    static KNOWN: OnceLock<Vec<Links>> = OnceLock::new();
    KNOWN.get_or_init(|| toml::from_str::<LinksFile>(LINKS).map(|file| file.architecture).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_whole() {
        let file: LinksFile = toml::from_str(LINKS).unwrap();
        assert_eq!(links(), file.architecture);
        for architecture in links() {
            assert!(architecture.name.chars().all(|letter| letter.is_ascii_alphanumeric()), "{}", architecture.name);
            for figure in [architecture.host, architecture.peer, architecture.memory] {
                assert!(figure > 0.0 && figure < 1e5, "{architecture:?}");
            }
            for subject in ["host: ", "peer: ", "memory: "] {
                assert!(architecture.sources.iter().any(|source| source.starts_with(subject)), "{architecture:?}");
            }
        }
    }
}

//! Words for units and nouns: `share/llm/grounding.toml`.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde::Deserialize;

const TABLE: &str = include_str!("../../../share/llm/grounding.toml");

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Nanoseconds.
    Time,
    Bytes,
    Percent,
    /// 10⁹ bytes per second.
    Rate,
    /// How many times.
    Times,
    /// A count or any other number.
    Plain,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unit {
    pub words: Vec<String>,
    pub kind: Kind,
    /// What one of it is in the base of its kind; several where writers disagree.
    pub factors: Vec<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Noun {
    pub words: Vec<String>,
    /// Parts of the names of figures and columns that it is about.
    pub names: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scale {
    pub words: Vec<String>,
    pub factor: f64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// Before numbers that are not exact.
    pub loose: Vec<String>,
    /// Behind `times`, where it is a factor.
    pub comparisons: Vec<String>,
    /// Before numbers that count parts of the answer itself.
    pub structure_before: Vec<String>,
    /// Behind such numbers.
    pub structure_after: Vec<String>,
    pub unchecked_prefixes: Vec<String>,
    /// Identifiers that are in no document and right nevertheless.
    pub unchecked_words: BTreeSet<String>,
    pub unit: Vec<Unit>,
    pub noun: Vec<Noun>,
    pub place: Vec<Noun>,
    pub scale: Vec<Scale>,
}

/// The table.
pub(crate) fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| toml::from_str(TABLE).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        toml::from_str::<Words>(TABLE).unwrap();
    }
}

//! The facts of `share/readable_names.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Prefix by kernel that applies a functor.
    pub functor_kernels: BTreeMap<String, String>,
    /// Prefix by kernel that runs a class or function.
    pub launchers: BTreeMap<String, String>,
    pub words: Words,
    pub tiles: Tiles,
    /// Abbreviations by spelling.
    pub types: BTreeMap<String, String>,
    pub rule: Vec<RuleText>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub wrappers: Vec<String>,
    pub op_prefixes: Vec<String>,
    pub op_suffixes: Vec<String>,
    pub ignored: Vec<String>,
    pub opened: Vec<String>,
    pub deep: Vec<String>,
    pub neutral: Vec<String>,
    pub vague: Vec<String>,
    pub element_types: Vec<String>,
    pub views: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tiles {
    pub patterns: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleText {
    #[serde(rename = "library")]
    pub _library: String,
    pub pattern: String,
    pub readable: String,
}

/// The facts, with compiled patterns.
pub(super) struct Facts {
    pub functor_kernels: BTreeMap<String, String>,
    pub launchers: BTreeMap<String, String>,
    pub words: Words,
    pub types: BTreeMap<String, String>,
    pub rules: Vec<Rule>,
    pub tiles: Vec<Regex>,
}

/// A name of known form and the parts of it that are kept.
pub(super) struct Rule {
    pattern: Regex,
    readable: String,
}

impl Rule {
    /// The readable form of a text that has the form of the rule.
    pub fn apply(&self, text: &str) -> Option<String> {
        let found = self.pattern.captures(text)?;
        let mut shown = String::new();
        found.expand(&self.readable, &mut shown);
        Some(shown)
    }
}

/// The built-in facts.
pub(super) fn facts() -> &'static Facts {
    static READ: LazyLock<Facts> = LazyLock::new(|| {
        let file: File = toml::from_str(data!("share/readable_names.toml")).unwrap_or_default();
        let rule = |rule: RuleText| Some(Rule { pattern: Regex::new(&rule.pattern).ok()?, readable: rule.readable });
        Facts {
            functor_kernels: file.functor_kernels,
            launchers: file.launchers,
            words: file.words,
            types: file.types,
            rules: file.rule.into_iter().filter_map(rule).collect(),
            tiles: file.tiles.patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect(),
        }
    });
    &READ
}

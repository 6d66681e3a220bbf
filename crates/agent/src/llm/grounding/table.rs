//! Words for units, nouns and commands: `share/llm/grounding.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

const TABLE: &str = data!("share/llm/grounding.toml");

/// The quantity that a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitKind {
    /// Nanoseconds.
    Time,
    Bytes,
    Percent,
    /// 10⁹ bytes per second.
    Rate,
    /// Hertz.
    Clock,
    /// Operations per second.
    Flops,
    /// A factor.
    Times,
    /// A count or any other number.
    Plain,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    pub words: Vec<String>,
    pub kind: UnitKind,
    /// Its size in the base unit; several values if texts use it differently.
    pub factors: Vec<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Noun {
    pub words: Vec<String>,
    /// Parts of the names of figures and columns with this noun.
    pub names: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    pub words: Vec<String>,
    pub factor: f64,
}

/// A program that only shows information, and its allowed arguments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Monitor {
    pub name: String,
    /// Its possible first words; empty for any word.
    #[serde(default)]
    pub verbs: Vec<String>,
    /// Its options; empty for any option. A star matches any ending.
    #[serde(default)]
    pub options: Vec<String>,
}

/// The vocabulary of commands.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// This program.
    pub own: String,
    /// Programs with known options.
    pub profilers: Vec<String>,
    /// Obsolete programs.
    pub outdated: Vec<String>,
    /// Known programs with unknown options.
    pub unchecked: Vec<String>,
    /// Programs that are detected anywhere.
    pub harmful: Vec<String>,
    /// Programs that start others on many nodes.
    pub launchers: Vec<String>,
    /// Options of launchers, each of which takes a number.
    pub launcher_options: Vec<String>,
    /// Variables that may be set, or prefixes of them.
    pub variables: Vec<String>,
    /// Options that send data, or prefixes of them that end in a hyphen.
    pub sends: Vec<String>,
    /// Options that write to a file or folder.
    pub writes: Vec<String>,
    /// Options among these that only read here.
    pub own_reads: Vec<String>,
    /// Programs that show the state of GPUs.
    pub monitor: Vec<Monitor>,
    /// Read-only modes of profilers.
    pub reader: Vec<Monitor>,
    /// Existing variables, or prefixes of them, that commands may not set.
    pub named_variables: Vec<String>,
    /// Words after which a program in a sentence begins a command.
    pub verbs: BTreeSet<String>,
    /// Words at which a command in a sentence ends.
    pub ends: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Words before inexact numbers.
    pub loose: Vec<String>,
    /// Words after `times` that make it a factor.
    pub comparisons: Vec<String>,
    /// Words before numbers that count parts of the answer itself.
    pub structure_before: Vec<String>,
    /// Words after such numbers, in the singular.
    pub structure_after: Vec<String>,
    /// Words before small numbers that select some of many: the top three.
    pub picked_before: Vec<String>,
    /// Words after such numbers.
    pub picked_after: Vec<String>,
    /// Words next to percentages that express the model's confidence.
    pub own_judgement: Vec<String>,
    /// Patterns of texts that are not numbers of a trace.
    pub skipped: Vec<String>,
    /// Words that end the noun of a number.
    pub noun_ends: BTreeSet<String>,
    /// Words in column names that do not distinguish columns.
    pub plain_words: BTreeSet<String>,
    /// Words in column names of statements that do not say what is counted.
    pub unsaid_words: BTreeSet<String>,
    /// Words for a run of a kernel, which statements may use.
    pub executions: BTreeSet<String>,
    /// Columns and figures that are ids, whatever their unit.
    pub id_columns: BTreeSet<String>,
    /// Words without additional meaning next to a figure and its percentage.
    pub filling_words: BTreeSet<String>,
    /// GPUs and names of other vendors.
    pub other_devices: BTreeSet<String>,
    pub unchecked_prefixes: Vec<String>,
    /// Identifiers that are valid but in no document.
    pub unchecked_words: BTreeSet<String>,
    /// Technical names, in any case.
    pub technical_words: BTreeSet<String>,
    pub commands: Commands,
    pub unit: Vec<Unit>,
    pub noun: Vec<Noun>,
    pub place: Vec<Noun>,
    pub scale: Vec<Scale>,
    /// Spelled-out numbers.
    pub spelled: BTreeMap<String, f64>,
}

/// A word in the singular, in lower case.
pub fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    if let Some(head) = word.strip_suffix("ies").filter(|head| head.len() > 1) {
        return format!("{head}y");
    }
    let is_long = ["sses", "ches", "shes", "xes"].iter().any(|end| word.ends_with(end));
    let is_plural = word.len() > 2 && word.ends_with('s') && !["ss", "is"].iter().any(|end| word.ends_with(end));
    let cut = if is_long { 2 } else { usize::from(is_plural) };
    word.get(..word.len() - cut).unwrap_or(&word).to_owned()
}

pub fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| toml::from_str(TABLE).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let table: Words = toml::from_str(TABLE).unwrap();
        assert!(table.skipped.iter().all(|pattern| regex::Regex::new(pattern).is_ok()));
        let listed = table.noun.iter().chain(&table.place).flat_map(|noun| noun.words.iter().chain(&noun.names));
        assert!(listed.clone().all(|word| stem(word) == *word), "{:?}", listed.collect::<Vec<_>>());
    }

    #[test]
    fn words_in_the_singular() {
        let words = "kernels processes dispatches copies stretches GPUs busy this";
        let stems: Vec<String> = words.split(' ').map(stem).collect();
        assert_eq!(stems.join(" "), "kernel process dispatch copy stretch gpu busy this");
    }
}

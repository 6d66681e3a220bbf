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
    /// How many times.
    Times,
    /// A count or any other number.
    Plain,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    pub words: Vec<String>,
    pub kind: UnitKind,
    /// Its size in the base of its kind; several if writers disagree.
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
pub struct Scale {
    pub words: Vec<String>,
    pub factor: f64,
}

/// A program that only shows something, and the arguments that it may get.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Monitor {
    pub name: String,
    /// Its possible first words; anything if empty.
    #[serde(default)]
    pub verbs: Vec<String>,
    /// Its options; any if empty. A star stands for any end.
    #[serde(default)]
    pub options: Vec<String>,
}

/// The words that commands may be made of.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// This program.
    pub own: String,
    /// Programs whose options are known.
    pub profilers: Vec<String>,
    /// Programs that should not be used any more.
    pub outdated: Vec<String>,
    /// Programs that are known, and their options not.
    pub unchecked: Vec<String>,
    /// Programs that are noticed anywhere.
    pub harmful: Vec<String>,
    /// Programs that start others on many machines.
    pub launchers: Vec<String>,
    /// Their options, each with a number.
    pub launcher_options: Vec<String>,
    /// Variables that may be set, or their beginnings.
    pub variables: Vec<String>,
    /// Options that send data away, or beginnings of them that end in a hyphen.
    pub sends: Vec<String>,
    /// Options that write to a file or folder.
    pub writes: Vec<String>,
    /// Those of them that only read here.
    pub own_reads: Vec<String>,
    /// Programs that show the state of GPUs.
    pub monitor: Vec<Monitor>,
    /// Modes of profilers that only read.
    pub reader: Vec<Monitor>,
    /// Variables that exist, or their beginnings; commands may not set them.
    pub named_variables: Vec<String>,
    /// Words after which a program in a sentence begins a command.
    pub verbs: BTreeSet<String>,
    /// Words at which a command in a sentence ends.
    pub ends: BTreeSet<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Before numbers that are not exact.
    pub loose: Vec<String>,
    /// Behind `times`, where it is a factor.
    pub comparisons: Vec<String>,
    /// Before numbers that count parts of the answer itself.
    pub structure_before: Vec<String>,
    /// Behind such numbers, in the singular.
    pub structure_after: Vec<String>,
    /// Before small numbers that pick some of many: the top three.
    pub picked_before: Vec<String>,
    /// Behind such numbers.
    pub picked_after: Vec<String>,
    /// Next to percentages that state how sure the model is.
    pub own_judgement: Vec<String>,
    /// Patterns of what is not a number of a trace.
    pub skipped: Vec<String>,
    /// Words at which what a number counts ends.
    pub noun_ends: BTreeSet<String>,
    /// Words of names of columns that tell nothing apart.
    pub plain_words: BTreeSet<String>,
    /// Words of columns that do not say what they count, as statements have them.
    pub unsaid_words: BTreeSet<String>,
    /// Words for a run of a kernel, which statements call as they like.
    pub executions: BTreeSet<String>,
    /// Columns and figures that identify, whatever their unit.
    pub id_columns: BTreeSet<String>,
    /// Words that say nothing more next to a figure and its percentage.
    pub filling_words: BTreeSet<String>,
    /// GPUs of other makers, and the makers.
    pub other_devices: BTreeSet<String>,
    pub unchecked_prefixes: Vec<String>,
    /// Identifiers that are in no document and right nevertheless.
    pub unchecked_words: BTreeSet<String>,
    /// Names of the field, in any case.
    pub technical_words: BTreeSet<String>,
    pub commands: Commands,
    pub unit: Vec<Unit>,
    pub noun: Vec<Noun>,
    pub place: Vec<Noun>,
    pub scale: Vec<Scale>,
    /// Numbers in words.
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

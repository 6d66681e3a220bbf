//! The rules of `share/instructions.toml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use regex::RegexSet;
use serde::Deserialize;

use crate::analysis::instructions::mnemonic;

const RULES: &str = data!("share/instructions.toml");
/// Class of instructions that no rule knows.
const OTHER: &str = "other";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    class: Vec<ClassRule>,
    branches: BranchRules,
    operation: Vec<OperationRule>,
    generation: Vec<GenerationRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassRule {
    class: String,
    #[serde(rename = "doc")]
    _doc: String,
    mnemonics: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BranchRules {
    direct: Vec<String>,
    r#final: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperationRule {
    kind: String,
    instructions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GenerationRule {
    name: String,
    signs: Vec<String>,
    ordered: Vec<Vec<String>>,
    counters: BTreeMap<String, Vec<String>>,
}

/// Chooses a word for a text, by patterns in order.
#[derive(Debug, Default)]
struct Chooser {
    patterns: RegexSet,
    words: Vec<String>,
}

impl Chooser {
    fn new<'a>(rules: impl Iterator<Item = (&'a str, &'a [String])>) -> Result<Self> {
        let (mut patterns, mut words) = (Vec::new(), Vec::new());
        for (word, of_word) in rules {
            patterns.extend(of_word.iter().map(|pattern| format!("^(?:{pattern})$")));
            words.extend(of_word.iter().map(|_| word.to_owned()));
        }
        Ok(Self { patterns: RegexSet::new(patterns)?, words })
    }

    fn choose(&self, text: &str) -> Option<&str> {
        self.words.get(self.patterns.matches(text).iter().next()?).map(String::as_str)
    }

    fn knows(&self, text: &str) -> bool {
        self.patterns.is_match(text)
    }
}

/// Events that the counters of a generation of GPUs count.
#[derive(Debug)]
pub struct Generation {
    /// Name.
    pub name: String,
    signs: Chooser,
    ordered: Vec<Vec<String>>,
    counters: BTreeMap<String, Vec<String>>,
}

impl Generation {
    pub fn counters(&self) -> impl Iterator<Item = &str> {
        self.counters.keys().map(String::as_str)
    }

    /// Whether a counter counts operations of a kind.
    pub fn counts(&self, counter: &str, kind: &str) -> bool {
        self.counters.get(counter).is_some_and(|kinds| kinds.iter().any(|other| other == kind))
    }

    /// Whether operations of these kinds finish in issue order.
    pub(crate) fn finish_in_order<'a>(&self, mut kinds: impl Iterator<Item = &'a str>) -> bool {
        let Some(first) = kinds.next() else { return true };
        let group = self.ordered.iter().find(|group| group.iter().any(|kind| kind == first));
        group.is_some_and(|group| kinds.all(|kind| group.iter().any(|other| other == kind)))
    }
}

#[derive(Debug, Default)]
pub struct InstructionRules {
    classes: Chooser,
    direct: Chooser,
    r#final: Chooser,
    operations: Chooser,
    generations: Vec<Generation>,
}

impl InstructionRules {
    /// The rules of `share/instructions.toml`; a test reads them, so that they are never empty.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<InstructionRules> = OnceLock::new();
        BUILTIN.get_or_init(|| Self::parse(RULES).unwrap_or_default())
    }

    fn parse(text: &str) -> Result<Self> {
        let file: RuleFile = toml::from_str(text).context("the rules of instructions are no TOML")?;
        let flat = |patterns: &[String]| Chooser::new(std::iter::once(("", patterns)));
        let generation = |rule: GenerationRule| {
            let GenerationRule { name, signs, ordered, counters } = rule;
            Ok(Generation { signs: flat(&signs)?, name, ordered, counters })
        };
        Ok(Self {
            classes: Chooser::new(file.class.iter().map(|rule| (rule.class.as_str(), rule.mnemonics.as_slice())))?,
            direct: flat(&file.branches.direct)?,
            r#final: flat(&file.branches.r#final)?,
            operations: Chooser::new(
                file.operation.iter().map(|rule| (rule.kind.as_str(), rule.instructions.as_slice())),
            )?,
            generations: file.generation.into_iter().map(generation).collect::<Result<_>>()?,
        })
    }

    /// The class of an instruction with its operands.
    pub fn class(&self, instruction: &str) -> &str {
        self.classes.choose(&mnemonic(instruction).to_ascii_lowercase()).unwrap_or(OTHER)
    }

    /// Whether the last operand of a branch is its target.
    pub fn is_direct(&self, mnemonic: &str) -> bool {
        self.direct.knows(mnemonic)
    }

    /// Whether the next instruction never runs right after this one.
    pub(crate) fn is_final(&self, mnemonic: &str) -> bool {
        self.r#final.knows(mnemonic)
    }

    /// The kind of operation that an instruction with its operands, in lower case, starts and that counters count.
    pub fn operation(&self, instruction: &str) -> Option<&str> {
        self.operations.choose(instruction).filter(|kind| *kind != "none")
    }

    /// The generation of a listing with these mnemonics.
    pub fn generation<'a>(&self, mnemonics: impl Iterator<Item = &'a str> + Clone) -> Option<&Generation> {
        self.generations.iter().find(|generation| mnemonics.clone().any(|name| generation.signs.knows(name)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_rules_are_whole() {
        let file: RuleFile = toml::from_str(RULES).unwrap();
        InstructionRules::parse(RULES).unwrap();
        let kinds: BTreeSet<&str> = file.operation.iter().map(|rule| rule.kind.as_str()).collect();
        for generation in &file.generation {
            let counted: BTreeSet<&str> = generation.counters.values().flatten().map(String::as_str).collect();
            let ordered: BTreeSet<&str> = generation.ordered.iter().flatten().map(String::as_str).collect();
            assert!(ordered.is_subset(&counted) && counted.is_subset(&kinds), "{}", generation.name);
            // Copies that do not pass registers came with gfx1250.
            let not_counted = if generation.name == "gfx12" { &["none"][..] } else { &["async", "none", "tensor"] };
            assert_eq!(kinds.difference(&counted).copied().collect::<Vec<_>>(), not_counted, "{}", generation.name);
        }
    }

    #[test]
    fn instructions_have_their_classes_and_operations() {
        let rules = InstructionRules::builtin();
        for line in data!("fixtures/instructions.txt").lines().filter(|line| !line.starts_with('#')) {
            let [class, kind, instruction] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            assert!(class.is_empty() || rules.class(instruction) == class, "{line}");
            assert!(kind.is_empty() || rules.operation(instruction).unwrap_or("none") == kind, "{line}");
        }
        let name = |mnemonics: &[&str]| rules.generation(mnemonics.iter().copied()).map(|found| found.name.as_str());
        assert_eq!(name(&["v_add_u32", "s_wait_loadcnt"]), Some("gfx12"));
        assert_eq!(name(&["s_waitcnt", "s_waitcnt_vscnt"]), Some("gfx10"));
        assert_eq!((name(&["s_waitcnt"]), name(&[])), (Some("gfx9"), None));
    }
}

//! Kinds of work of kernels, inferred from their names by ordered rules.
//!
//! The rules are data (`share/kernel_categories.toml`, which documents their form); users may add their own. The
//! category [`COMMUNICATION`] is reserved: time accounting separates it from compute.

mod rules;

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::analysis::categories::rules::{Name, Origin, Rule};
use crate::analysis::kernel_names::mangled_base;
use crate::text::fnv::fnv1a;

pub use crate::analysis::categories::rules::CategoryError;

/// Category of kernels that move data between GPUs.
pub const COMMUNICATION: &str = "communication";

/// Category of kernels that no rule matches.
pub const OTHER: &str = "other";

const BUILTIN_RULES: &str = data!("share/kernel_categories.toml");

/// Ordered rules from kernel names to categories.
#[derive(Debug, Clone, Default)]
pub struct Categories {
    rules: Arc<Vec<Rule>>,
    hash: u64,
    /// Places of the rules that names matched. They are kept because all ranks of a run have the same kernels.
    known: Arc<RwLock<BTreeMap<String, Option<usize>>>>,
}

/// Maximum number of names that are kept: many more than a program has kernels.
const MOST_KNOWN: usize = 16_384;

impl Categories {
    /// The rules that come with the program.
    pub fn builtin() -> Self {
        // A test checks that the embedded file is valid; there is no sensible way to report it to a user.
        let rules = rules::parse(BUILTIN_RULES, "built-in kernel categories", Origin::Builtin).unwrap_or_default();
        Self::of(rules, hash_texts(&[BUILTIN_RULES]))
    }

    /// The user's rules from `toml_text`, then the built-in ones. `file_label` names the file in errors.
    ///
    /// Rules are tried in this order: the user's for `communication` and those marked `before = "communication"`, the
    /// built-in ones for `communication`, the user's other rules, the other built-in rules. So users cannot hide
    /// communication by accident, only on purpose.
    ///
    /// # Errors
    /// If the text is not TOML of the documented form, or a rule has no pattern, a category that is not snake_case,
    /// a pattern without a letter or digit, an invalid regular expression or an unknown `before`.
    pub fn with_user_rules(toml_text: &str, file_label: &str) -> Result<Self, CategoryError> {
        let user = rules::parse(toml_text, file_label, Origin::User)?;
        let mut all = user;
        all.extend(Self::builtin().rules.iter().cloned());
        all.sort_by_key(Rule::precedence);
        Ok(Self::of(all, hash_texts(&[BUILTIN_RULES, toml_text])))
    }

    /// The rules of a text alone, for words other than categories.
    ///
    /// # Errors
    /// Those of [`Categories::with_user_rules`].
    pub(crate) fn of_rules(toml_text: &str, file_label: &str) -> Result<Self, CategoryError> {
        Ok(Self::of(rules::parse(toml_text, file_label, Origin::Builtin)?, hash_texts(&[toml_text])))
    }

    fn of(rules: Vec<Rule>, hash: u64) -> Self {
        Self { rules: Arc::new(rules), hash, known: Arc::default() }
    }

    /// The category of a kernel with the base name `base` and the display name `full`; [`OTHER`] if no rule matches.
    ///
    /// All rules are tried on the base name before any is tried on the full name. Of a mangled name, the function's
    /// identifier is tried before either.
    pub fn category(&self, base: &str, full: &str) -> &str {
        let key = format!("{base}\0{full}");
        let known = self.known.read().get(&key).copied();
        let place = known.unwrap_or_else(|| {
            let forms = [mangled_base(base), Some(base), (full != base).then_some(full)];
            let place = forms.into_iter().flatten().find_map(|form| self.decide(form));
            let mut known = self.known.write();
            if known.len() < MOST_KNOWN {
                known.insert(key, place);
            }
            place
        });
        place.and_then(|place| self.rules.get(place)).map_or(OTHER, Rule::category)
    }

    /// Hash over the texts of the rules, 16 hexadecimal digits: equal hashes give equal categories.
    pub fn hash(&self) -> String {
        format!("{:016x}", self.hash)
    }

    /// All category ids in the order of the rules, each once, [`OTHER`] last.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for rule in self.rules.iter() {
            if rule.category() != OTHER && !ids.contains(&rule.category()) {
                ids.push(rule.category());
            }
        }
        ids.push(OTHER);
        ids
    }

    /// The place of the first rule that a form of a name matches.
    fn decide(&self, form: &str) -> Option<usize> {
        let name = Name::new(form);
        self.rules.iter().position(|rule| rule.matches(&name))
    }
}

/// FNV-1a over the texts, each closed by a byte that UTF-8 never contains.
fn hash_texts(texts: &[&str]) -> u64 {
    let bytes: Vec<u8> = texts.iter().flat_map(|text| text.bytes().chain([0xff])).collect();
    fnv1a(&bytes)
}

#[cfg(test)]
mod tests;

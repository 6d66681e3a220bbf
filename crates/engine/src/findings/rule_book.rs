//! Thresholds and texts of rules: data in `share/rules/`, which a user's file or option may change.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use thiserror::Error;

use wavesieve_model::text::similar::closest;

/// The built-in files.
const BUILTIN: &[(&str, &str)] = &[
    ("share/rules/time.toml", data!("share/rules/time.toml")),
    ("share/rules/communication.toml", data!("share/rules/communication.toml")),
    ("share/rules/ranks.toml", data!("share/rules/ranks.toml")),
    ("share/rules/memory.toml", data!("share/rules/memory.toml")),
    ("share/rules/kernels.toml", data!("share/rules/kernels.toml")),
    ("share/rules/counters.toml", data!("share/rules/counters.toml")),
    ("share/rules/thread_trace.toml", data!("share/rules/thread_trace.toml")),
    ("share/rules/ranges.toml", data!("share/rules/ranges.toml")),
    ("share/rules/health.toml", data!("share/rules/health.toml")),
];

/// Thresholds and texts of a rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    /// Its subject, in the words of the field.
    pub category: String,
    /// How sure a finding is, from 0 to 1.
    pub confidence: f64,
    /// Template of one sentence with the numbers.
    pub title: String,
    /// Template of the same for readers without knowledge of GPUs, a clause that begins in lower case (`share/report/verdict.toml`); empty if
    /// the finding is never the first of a document.
    #[serde(default)]
    pub verdict: String,
    /// Template of the explanation.
    pub explanation: String,
    /// Templates of advice, the most helpful first.
    #[serde(default)]
    pub advice: Vec<String>,
    /// Data to collect next, by the names of recommendations.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Numbers that the rule compares with, by name; the unit is in the name.
    #[serde(default)]
    pub thresholds: BTreeMap<String, f64>,
    /// Source of the thresholds.
    #[serde(default)]
    pub source: String,
}

/// Errors of changing rules.
#[derive(Debug, Error)]
pub enum RuleBookError {
    /// A file is not TOML of rules.
    #[error("{file} is not a file of rules: {reason}; `wavesieve schema rules` prints the built-in ones")]
    File {
        file: String,
        /// The error in the file.
        reason: String,
    },
    /// There is no such rule.
    #[error("there is no rule {rule}{}; `wavesieve schema rules` lists all", near_names(.near))]
    Rule {
        /// The requested rule.
        rule: String,
        /// The most similar one, and ones that share a word with it.
        near: Vec<String>,
    },
    /// A threshold cannot have such a value.
    #[error("{rule}.{threshold} cannot be {value}; a threshold is a number from 0 to {MAX:.0}")]
    Value {
        rule: String,
        threshold: String,
        /// The requested value.
        value: f64,
    },
    /// The rule has no such threshold.
    #[error("{rule} has no threshold {threshold}; it has {known}")]
    Threshold {
        rule: String,
        /// The requested threshold.
        threshold: String,
        known: String,
    },
    /// An assignment cannot be understood.
    #[error("--set {text} is not an assignment; write RULE.THRESHOLD=NUMBER")]
    Assignment {
        /// The given text.
        text: String,
    },
}

/// Maximum number of suggested names.
const NEAR_NAMES: usize = 5;
/// Maximum threshold: above the nanoseconds and bytes of any trace, and far above any share.
const MAX: f64 = 1e18;

fn near_names(near: &[String]) -> String {
    match near {
        [] => String::new(),
        [only] => format!("; did you mean {only}?"),
        several => format!("; did you mean one of {}?", several.join(", ")),
    }
}

/// Thresholds and texts of all rules by id.
#[derive(Clone, Debug)]
pub struct RuleBook {
    rules: BTreeMap<String, RuleText>,
}

impl RuleBook {
    /// The built-in rules.
    ///
    /// # Errors
    /// When a file is wrong; tests ensure that none is.
    pub fn builtin() -> Result<Self, RuleBookError> {
        let mut rules = BTreeMap::new();
        for (file, text) in BUILTIN {
            rules.extend(parsed(file, text)?);
        }
        Ok(Self { rules })
    }

    /// Subjects of the rules.
    pub fn categories(&self) -> BTreeSet<&str> {
        self.rules.values().map(|rule| rule.category.as_str()).collect()
    }

    /// The same with the thresholds that a user's file names: tables of numbers by rule.
    ///
    /// # Errors
    /// When the file is not such TOML, or names a rule or threshold that does not exist.
    pub fn with_file(mut self, file: &str, text: &str) -> Result<Self, RuleBookError> {
        let wrong =
            |error: toml::de::Error| RuleBookError::File { file: file.to_owned(), reason: error.message().to_owned() };
        let changes: BTreeMap<String, BTreeMap<String, f64>> = toml::from_str(text).map_err(wrong)?;
        for (rule, thresholds) in changes {
            for (threshold, value) in thresholds {
                self.set(&rule, &threshold, value)?;
            }
        }
        Ok(self)
    }

    /// The same with an assignment such as `idle_host.high_pct=30`.
    ///
    /// # Errors
    /// When it is not an assignment, or names a rule or threshold that does not exist.
    pub fn with_assignment(mut self, text: &str) -> Result<Self, RuleBookError> {
        let wrong = || RuleBookError::Assignment { text: text.to_owned() };
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let (rule, threshold) = name.split_once('.').ok_or_else(wrong)?;
        let value: f64 = value.trim().parse().map_err(|_| wrong())?;
        self.set(rule.trim(), threshold.trim(), value)?;
        Ok(self)
    }

    fn set(&mut self, rule: &str, threshold: &str, value: f64) -> Result<(), RuleBookError> {
        let near = if self.rules.contains_key(rule) { Vec::new() } else { self.near(rule) };
        let known = self.rules.get_mut(rule);
        let known = known.ok_or_else(|| RuleBookError::Rule { rule: rule.to_owned(), near })?;
        let names = known.thresholds.keys().cloned().collect::<Vec<String>>().join(", ");
        let place = known.thresholds.get_mut(threshold).ok_or_else(|| RuleBookError::Threshold {
            rule: rule.to_owned(),
            threshold: threshold.to_owned(),
            known: if names.is_empty() { "none".to_owned() } else { names },
        })?;
        if !(0.0..=MAX).contains(&value) {
            let (rule, threshold) = (rule.to_owned(), threshold.to_owned());
            return Err(RuleBookError::Value { rule, threshold, value });
        }
        *place = value;
        Ok(())
    }

    /// The rule with the most similar id, and ids that share a word with it.
    fn near(&self, rule: &str) -> Vec<String> {
        let ids = || self.rules.keys().map(String::as_str);
        let mut near: Vec<String> = closest(rule, ids()).into_iter().collect();
        let words: Vec<&str> = rule.split('_').filter(|word| word.len() > 2).collect();
        for id in ids().filter(|id| id.split('_').any(|word| words.contains(&word))) {
            if !near.iter().any(|known| known == id) {
                near.push(id.to_owned());
            }
        }
        near.truncate(NEAR_NAMES);
        near
    }

    /// Thresholds and texts of a rule.
    pub fn get(&self, rule: &str) -> Option<&RuleText> {
        self.rules.get(rule)
    }

    /// All rules in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RuleText)> {
        self.rules.iter().map(|(id, rule)| (id.as_str(), rule))
    }
}

fn parsed(file: &str, text: &str) -> Result<BTreeMap<String, RuleText>, RuleBookError> {
    toml::from_str(text)
        .map_err(|error| RuleBookError::File { file: file.to_owned(), reason: error.message().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_can_be_set() {
        let book = RuleBook::builtin().unwrap().with_assignment("host_bound_idle.high_pct=33").unwrap();
        assert_eq!(book.get("host_bound_idle").unwrap().thresholds.get("high_pct"), Some(&33.0));
        let book = book.with_file("own.toml", "[host_bound_idle]\nhigh_pct = 44.5").unwrap();
        assert_eq!(book.get("host_bound_idle").unwrap().thresholds.get("high_pct"), Some(&44.5));
        let wrong = |text: &str| book.clone().with_assignment(text).unwrap_err().to_string();
        assert!(wrong("host_bound_idel.high_pct=3").contains("did you mean host_bound_idle?"));
        assert!(wrong("host_bound_idel.high_pct=3").ends_with("`wavesieve schema rules` lists all"));
        for value in ["nan", "inf", "-inf", "-5", "1e300"] {
            let said = wrong(&format!("host_bound_idle.high_pct={value}"));
            assert!(said.contains("host_bound_idle.high_pct cannot be") && said.contains("from 0 to"), "{said}");
            let in_file = book.clone().with_file("own.toml", &format!("[host_bound_idle]\nhigh_pct = {value}"));
            assert!(in_file.unwrap_err().to_string().contains("cannot be"), "{value}");
        }
        assert!(wrong("host_bound_idle.higher=3").contains("high_pct"));
        assert!(wrong("host_bound_idle.high_pct=much").contains("is not an assignment"));
    }
}

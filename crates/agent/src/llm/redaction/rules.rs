//! Redaction rules: `share/llm/redaction.toml`, and the user's own file.

use std::path::Path;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::llm::error::LlmError;
use crate::llm::payload::Share;

const RULES: &str = data!("share/llm/redaction.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RedactionFile {
    #[serde(default)]
    public: Vec<String>,
    /// Patterns of paths that reveal a person, in their groups.
    #[serde(default)]
    people: Vec<String>,
    #[serde(default)]
    rule: Vec<FormRule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FormRule {
    token: String,
    #[serde(default, rename = "about")]
    _about: String,
    pattern: String,
    except: Option<String>,
    levels: Option<Vec<String>>,
    #[serde(default = "yes")]
    restored: bool,
}

fn yes() -> bool {
    true
}

/// A pattern with the replacement of its matches.
#[derive(Clone, Debug)]
pub struct Rule {
    pub token: String,
    pub pattern: Regex,
    /// A match that this pattern finds stays.
    pub except: Option<Regex>,
    pub is_restored: bool,
    /// Levels of the rule; empty for all.
    levels: Vec<String>,
}

/// The rules of a level, in their order.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// Names of accounts that are not private.
    pub public: Vec<String>,
    /// Paths that reveal a person.
    people: Vec<Regex>,
}

impl Rules {
    /// The people that paths in a text reveal.
    pub(crate) fn people_in(&self, text: &str) -> Vec<String> {
        let named = |pattern: &Regex| {
            let found = pattern.captures_iter(text).filter_map(|found| Some(found.get(1)?.as_str().to_owned()));
            found.filter(|name| !self.public.contains(name)).collect::<Vec<_>>()
        };
        if text.contains(['/', '\\', '~']) { self.people.iter().flat_map(named).collect() } else { Vec::new() }
    }

    /// The user's rules, then the built-in ones.
    pub fn new(share: Share, own: Option<&Path>) -> Result<Self, LlmError> {
        // Patterns take time to compile.
        static BUILTIN: OnceLock<Result<Rules, String>> = OnceLock::new();
        let mut found = Self::default();
        if let Some(path) = own {
            let refused = |reason: String| {
                LlmError::Usage(format!(
                    "--llm-redact {}: {reason}; write rules as in share/llm/redaction.toml",
                    path.display()
                ))
            };
            let text = std::fs::read_to_string(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
            found = Self::parsed(&text).map_err(refused)?;
        }
        let builtin = BUILTIN.get_or_init(|| Self::parsed(RULES)).as_ref();
        let builtin = builtin.map_err(|reason| LlmError::Internal(format!("share/llm/redaction.toml: {reason}")))?;
        found.rules.extend(builtin.rules.iter().cloned());
        found.public.extend(builtin.public.iter().cloned());
        found.people.extend(builtin.people.iter().cloned());
        found.rules.retain(|rule| rule.levels.is_empty() || rule.levels.iter().any(|level| level == share.word()));
        Ok(found)
    }

    fn parsed(text: &str) -> Result<Self, String> {
        let form: RedactionFile = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let mut rules = Vec::new();
        for rule in form.rule {
            let levels = rule.levels.unwrap_or_default();
            if let Some(level) = levels.iter().find(|level| Share::of_word(level).is_none()) {
                return Err(format!("{level} is not a level; choose from figures, names and source"));
            }
            let is_token = !rule.token.is_empty() && rule.token.chars().all(|letter| letter.is_ascii_uppercase());
            if !is_token {
                return Err(format!("token {} must be capital letters", rule.token));
            }
            let built = |pattern: &str| {
                let pattern = RegexBuilder::new(pattern).size_limit(32 << 20).build();
                pattern.map_err(|error| format!("pattern of {}: {error}", rule.token))
            };
            let pattern = built(&rule.pattern)?;
            let except = rule.except.as_deref().map(built).transpose()?;
            rules.push(Rule { token: rule.token, pattern, except, is_restored: rule.restored, levels });
        }
        let people = form.people.iter().map(|pattern| Regex::new(pattern).map_err(|error| format!("people: {error}")));
        Ok(Self { rules, public: form.public, people: people.collect::<Result<_, _>>()? })
    }
}

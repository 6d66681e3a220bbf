//! What is taken out: `share/llm/redaction.toml`, and a file of the user's own.

use std::path::Path;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::llm::error::LlmError;
use crate::llm::payload::Share;

const RULES: &str = include_str!("../../../share/llm/redaction.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default)]
    public: Vec<String>,
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
    levels: Option<Vec<String>>,
    #[serde(default = "yes")]
    restored: bool,
}

fn yes() -> bool {
    true
}

/// A pattern with what stands in the place of what it finds.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub token: String,
    pub pattern: Regex,
    pub is_restored: bool,
}

/// The rules of a level, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub rules: Vec<Rule>,
    /// Names of accounts that are no secret.
    pub public: Vec<String>,
}

impl Rules {
    /// Those of the user, then those that are built in.
    ///
    /// # Errors
    /// When the file cannot be read, or a pattern is wrong.
    pub(crate) fn new(share: Share, own: Option<&Path>) -> Result<Self, LlmError> {
        let mut found = Self { rules: Vec::new(), public: Vec::new() };
        if let Some(path) = own {
            let refused = |reason: String| {
                LlmError::Usage(format!(
                    "--llm-redact {}: {reason}; write rules as in share/llm/redaction.toml",
                    path.display()
                ))
            };
            let text = std::fs::read_to_string(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
            found.add(&text, share).map_err(refused)?;
        }
        found.add(RULES, share).map_err(|reason| LlmError::Internal(format!("share/llm/redaction.toml: {reason}")))?;
        Ok(found)
    }

    fn add(&mut self, text: &str, share: Share) -> Result<(), String> {
        let form: Form = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        self.public.extend(form.public);
        for rule in form.rule {
            let levels = rule.levels.unwrap_or_default();
            if let Some(level) = levels.iter().find(|level| Share::of_word(level).is_none()) {
                return Err(format!("{level} is no level; choose from figures, names and source"));
            }
            let is_token = !rule.token.is_empty() && rule.token.chars().all(|letter| letter.is_ascii_uppercase());
            if !is_token {
                return Err(format!("token {} must be capital letters", rule.token));
            }
            if !levels.is_empty() && !levels.iter().any(|level| level == share.word()) {
                continue;
            }
            let pattern = RegexBuilder::new(&rule.pattern).size_limit(32 << 20).build();
            let pattern = pattern.map_err(|error| format!("pattern of {}: {error}", rule.token))?;
            self.rules.push(Rule { token: rule.token, pattern, is_restored: rule.restored });
        }
        Ok(())
    }
}

//! One rule: how it is written, checked and matched.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::analysis::categories::COMMUNICATION;

/// Why a file of category rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CategoryError {
    /// No TOML, or not of the documented form.
    #[error(
        "{file}, line {line}: not a valid rule file: {reason}; compare it with the built-in kernel_categories.toml"
    )]
    Syntax {
        /// Label of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Message of the parser.
        reason: String,
    },
    /// A category id that could not be a column value everywhere.
    #[error(
        "{file}, rule {rule}: category '{category}' is not snake_case; use lower-case letters, digits and underscores"
    )]
    CategoryId {
        /// Label of the file.
        file: String,
        /// Number of the rule, from 1.
        rule: usize,
        /// The id as written.
        category: String,
    },
    /// A rule that could never match.
    #[error(
        "{file}, rule {rule} ({category}): it has no pattern and matches nothing; give it tokens, prefixes or regex"
    )]
    NoPattern {
        /// Label of the file.
        file: String,
        /// Number of the rule, from 1.
        rule: usize,
        category: String,
    },
    /// A pattern that would match every name or none.
    #[error("{file}, rule {rule} ({category}): the pattern '{pattern}' has no letter or digit; remove it or use regex")]
    EmptyPattern {
        /// Label of the file.
        file: String,
        /// Number of the rule, from 1.
        rule: usize,
        category: String,
        /// The pattern as written.
        pattern: String,
    },
    /// An invalid regular expression.
    #[error("{file}, rule {rule} ({category}): the regex '{pattern}' is invalid: {reason}; correct or quote it")]
    Regex {
        /// Label of the file.
        file: String,
        /// Number of the rule, from 1.
        rule: usize,
        category: String,
        /// The expression as written.
        pattern: String,
        /// Message of the parser.
        reason: String,
    },
    /// `before` names something else than communication.
    #[error("{file}, rule {rule} ({category}): before = '{before}' is not known; write \"communication\" or remove it")]
    Before {
        /// Label of the file.
        file: String,
        /// Number of the rule, from 1.
        rule: usize,
        category: String,
        /// The value as written.
        before: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    #[serde(default)]
    rule: Vec<RuleText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    category: String,
    #[serde(default, rename = "doc")]
    _doc: String,
    #[serde(default)]
    tokens: Vec<String>,
    #[serde(default)]
    prefixes: Vec<String>,
    #[serde(default)]
    regex: Vec<String>,
    #[serde(default)]
    not: Vec<String>,
    before: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Builtin,
    User,
}

#[derive(Debug, Clone)]
pub(super) struct Rule {
    category: String,
    origin: Origin,
    before_communication: bool,
    phrases: Vec<Vec<String>>,
    prefixes: Vec<String>,
    expressions: Vec<Regex>,
    vetoes: Vec<Vec<String>>,
}

impl Rule {
    pub(super) fn category(&self) -> &str {
        &self.category
    }

    /// Place among built-in and user rules, lowest first; rules of the same place keep their order.
    pub(super) fn precedence(&self) -> u8 {
        match (self.origin, self.category == COMMUNICATION || self.before_communication) {
            (Origin::User, true) => 0,
            (Origin::Builtin, true) => 1,
            (Origin::User, false) => 2,
            (Origin::Builtin, false) => 3,
        }
    }

    pub(super) fn matches(&self, name: &Name) -> bool {
        let wanted = self.phrases.iter().any(|phrase| name.has(phrase))
            || self.prefixes.iter().any(|prefix| name.lower.starts_with(prefix))
            || self.expressions.iter().any(|expression| expression.is_match(&name.lower));
        wanted && !self.vetoes.iter().any(|phrase| name.has(phrase))
    }
}

/// A name prepared for matching.
pub(super) struct Name {
    lower: String,
    words: Vec<String>,
    /// Templates can have hundreds of words, most patterns a single one.
    sorted: Vec<String>,
}

impl Name {
    pub(super) fn new(name: &str) -> Self {
        // An empty word after each bracket and comma keeps phrases from reaching from one argument into the next.
        let mut words: Vec<String> = Vec::new();
        for part in name.split(['<', '>', '(', ')', '{', '}', '[', ']', ',']) {
            words.extend(self::words(part));
            words.push(String::new());
        }
        let mut sorted = words.clone();
        sorted.sort_unstable();
        Self { lower: name.to_lowercase(), words, sorted }
    }

    fn has(&self, phrase: &[String]) -> bool {
        match phrase {
            [] => false,
            [first, rest @ ..] => {
                self.sorted.binary_search(first).is_ok()
                    && (rest.is_empty() || self.words.windows(phrase.len()).any(|window| window == phrase))
            }
        }
    }
}

/// Lower-case words of a name, split at everything not alphanumeric, around digits, and at changes of case: `CUDAKernel` is
/// `cuda`, `kernel`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut previous: Option<char> = None;
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let next_is_lower = characters.peek().is_some_and(|next| next.is_lowercase());
        if previous.is_some_and(|previous| is_boundary(previous, character, next_is_lower)) && !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        previous = Some(character);
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

fn is_boundary(previous: char, character: char, next_is_lower: bool) -> bool {
    !character.is_alphanumeric()
        || previous.is_numeric() != character.is_numeric()
        || (previous.is_lowercase() && character.is_uppercase())
        || (previous.is_uppercase() && character.is_uppercase() && next_is_lower)
}

/// The rules of a file in its order.
pub(super) fn parse(text: &str, file: &str, origin: Origin) -> Result<Vec<Rule>, CategoryError> {
    let parsed: RuleFile = toml::from_str(text).map_err(|error| CategoryError::Syntax {
        file: file.to_owned(),
        line: line_of(text, error.span().map_or(0, |span| span.start)),
        reason: error.message().to_owned(),
    })?;
    parsed.rule.into_iter().zip(1..).map(|(rule, number)| check(rule, number, file, origin)).collect()
}

fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|character| *character == b'\n').count().saturating_add(1)
}

fn check(rule: RuleText, number: usize, file: &str, origin: Origin) -> Result<Rule, CategoryError> {
    let category = rule.category;
    let place = || (file.to_owned(), number, category.clone());
    if !is_snake_case(&category) {
        let (file, rule, category) = place();
        return Err(CategoryError::CategoryId { file, rule, category });
    }
    if rule.tokens.is_empty() && rule.prefixes.is_empty() && rule.regex.is_empty() {
        let (file, rule, category) = place();
        return Err(CategoryError::NoPattern { file, rule, category });
    }
    if let Some(before) = rule.before.as_ref().filter(|before| *before != COMMUNICATION) {
        let (file, rule, category) = place();
        return Err(CategoryError::Before { file, rule, category, before: before.clone() });
    }
    let empty = |pattern: &str| {
        let (file, rule, category) = place();
        CategoryError::EmptyPattern { file, rule, category, pattern: pattern.to_owned() }
    };
    let phrases = |patterns: &[String]| -> Result<Vec<Vec<String>>, CategoryError> {
        patterns
            .iter()
            .map(|pattern| Some(words(pattern)).filter(|phrase| !phrase.is_empty()).ok_or_else(|| empty(pattern)))
            .collect()
    };
    if let Some(prefix) = rule.prefixes.iter().find(|prefix| words(prefix).is_empty()) {
        return Err(empty(prefix));
    }
    let expressions = rule.regex.iter().map(|pattern| {
        RegexBuilder::new(pattern).case_insensitive(true).build().map_err(|error| {
            let (file, rule, category) = place();
            CategoryError::Regex {
                file,
                rule,
                category,
                pattern: pattern.clone(),
                reason: last_line(&error.to_string()),
            }
        })
    });
    Ok(Rule {
        origin,
        before_communication: rule.before.is_some(),
        phrases: phrases(&rule.tokens)?,
        prefixes: rule.prefixes.iter().map(|prefix| prefix.to_lowercase()).collect(),
        expressions: expressions.collect::<Result<_, _>>()?,
        vetoes: phrases(&rule.not)?,
        category: category.clone(),
    })
}

/// The regex parser draws a picture over several lines and puts the reason last.
fn last_line(message: &str) -> String {
    let reason = message.lines().last().unwrap_or(message).trim();
    reason.strip_prefix("error: ").unwrap_or(reason).to_owned()
}

fn is_snake_case(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_lowercase())
        && id.chars().all(|character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_')
}

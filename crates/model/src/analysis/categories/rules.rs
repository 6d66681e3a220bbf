//! One rule: how it is written, checked and matched.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::analysis::categories::COMMUNICATION;

/// Why a file of category rules cannot be used, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{file}, {place}: {problem}")]
pub struct CategoryError {
    /// Label of the file.
    file: String,
    /// Line or rule, from 1.
    place: String,
    problem: String,
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
    let parsed: RuleFile = toml::from_str(text).map_err(|error| CategoryError {
        file: file.to_owned(),
        place: format!("line {}", line_of(text, error.span().map_or(0, |span| span.start))),
        problem: format!(
            "not a valid rule file: {}; compare it with the built-in kernel_categories.toml",
            error.message()
        ),
    })?;
    let check = |(rule, number): (RuleText, usize)| {
        let category = rule.category.clone();
        check(rule, origin).map_err(|problem| {
            let of = if is_snake_case(&category) { format!(" ({category})") } else { String::new() };
            CategoryError { file: file.to_owned(), place: format!("rule {number}{of}"), problem }
        })
    };
    parsed.rule.into_iter().zip(1..).map(check).collect()
}

fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|character| *character == b'\n').count().saturating_add(1)
}

/// A rule that may be used; otherwise its problem.
fn check(rule: RuleText, origin: Origin) -> Result<Rule, String> {
    if !is_snake_case(&rule.category) {
        return Err(format!(
            "category '{}' is not snake_case; use lower-case letters, digits and underscores",
            rule.category
        ));
    }
    if rule.tokens.is_empty() && rule.prefixes.is_empty() && rule.regex.is_empty() {
        return Err("it has no pattern and matches nothing; give it tokens, prefixes or regex".to_owned());
    }
    if let Some(before) = rule.before.as_ref().filter(|before| *before != COMMUNICATION) {
        return Err(format!("before = '{before}' is not known; write \"communication\" or remove it"));
    }
    let empty = |pattern: &str| format!("the pattern '{pattern}' has no letter or digit; remove it or use regex");
    let phrase =
        |pattern: &String| Some(words(pattern)).filter(|phrase| !phrase.is_empty()).ok_or_else(|| empty(pattern));
    let phrases = |patterns: &[String]| patterns.iter().map(phrase).collect::<Result<_, _>>();
    if let Some(prefix) = rule.prefixes.iter().find(|prefix| words(prefix).is_empty()) {
        return Err(empty(prefix));
    }
    let expression = |pattern: &String| {
        RegexBuilder::new(pattern).case_insensitive(true).build().map_err(|error| {
            format!("the regex '{pattern}' is invalid: {}; correct or quote it", last_line(&error.to_string()))
        })
    };
    Ok(Rule {
        origin,
        before_communication: rule.before.is_some(),
        phrases: phrases(&rule.tokens)?,
        prefixes: rule.prefixes.iter().map(|prefix| prefix.to_lowercase()).collect(),
        expressions: rule.regex.iter().map(expression).collect::<Result<_, _>>()?,
        vetoes: phrases(&rule.not)?,
        category: rule.category,
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

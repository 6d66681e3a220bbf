//! Maps tokens to the texts that they stand for. The map never leaves the process.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::llm::payload::Vocabulary;

/// Minimum length of names to search: shorter ones occur in too many words. Rules still find them.
const SHORTEST_NAME: usize = 3;
/// Minimum length of names to search within longer words.
const SHORTEST_PART: usize = 4;
/// Kinds of tokens whose names may be ordinary words, such as an argument `size`: such a word is redacted in its own
/// cell, but in no other text.
const OF_TRACE: [&str; 5] = ["KERNEL", "NAME", "TEXT", "ARGUMENT", "COMMAND"];

/// A token with its number. Its brackets are optional, because models may omit them.
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[?\b([A-Z]+_[0-9]+)\b\]?").ok());

/// A name with its other known forms, to be recognized later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownName {
    /// The word in its tokens, such as `KERNEL`.
    pub kind: String,
    pub forms: Vec<String>,
}

/// A text that is redacted wherever it occurs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Name {
    pub text: String,
    pub token: String,
    /// The name in lower case, if it is searched in any case and within longer words.
    pub anywhere: Option<String>,
    /// Whether it is searched only after the rules, so that they find whole paths.
    #[serde(default)]
    pub is_late: bool,
}

/// Tokens by text, and texts by token.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TokenMap {
    tokens: BTreeMap<String, String>,
    /// The texts that replace tokens in answers.
    originals: BTreeMap<String, String>,
    /// The texts of all tokens.
    texts_of_tokens: BTreeMap<String, String>,
    counts: BTreeMap<String, usize>,
    /// Known names by falling length.
    names: Vec<Name>,
}

impl TokenMap {
    /// The token for a text: its existing one, or a new one of this kind, such as `[PATH_1]`. A token that is not
    /// restored stays in answers.
    pub fn token(&mut self, kind: &str, original: &str, is_restored: bool) -> String {
        if let Some(token) = self.tokens.get(original) {
            return token.clone();
        }
        let count = self.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        let token = format!("[{kind}_{count}]");
        self.tokens.insert(original.to_owned(), token.clone());
        self.texts_of_tokens.insert(token.clone(), original.to_owned());
        if is_restored {
            self.originals.insert(token.clone(), original.to_owned());
        }
        token
    }

    /// Adds a name that is redacted wherever it occurs; returns its token.
    pub fn name(&mut self, kind: &str, name: &str) -> String {
        let token = self.token(kind, name, true);
        self.alias(name, &token);
        token
    }

    /// Adds another form of a token's text.
    pub fn alias(&mut self, name: &str, token: &str) {
        let name = name.trim();
        let is_word = || OF_TRACE.contains(&kind(token)) && Vocabulary::builtin().has_word(name);
        if name.chars().count() < SHORTEST_NAME || self.names.iter().any(|known| known.text == name) || is_word() {
            return;
        }
        let length = name.len();
        let place = self.names.partition_point(|known| known.text.len() >= length);
        let name = Name { text: name.to_owned(), token: token.to_owned(), anywhere: None, is_late: false };
        self.names.insert(place, name);
    }

    /// Adds another form that is found in any case and within longer words, for statements that change the name of a
    /// machine, user or path. An ordinary word is found only by itself.
    pub(crate) fn alias_anywhere(&mut self, name: &str, token: &str) {
        self.alias(name, token);
        let name = name.trim();
        if name.chars().count() < SHORTEST_PART || Vocabulary::builtin().has_word(name) {
            return;
        }
        if let Some(known) = self.names.iter_mut().find(|known| known.text == name) {
            known.anywhere = Some(name.to_ascii_lowercase());
        }
    }

    /// Adds a person known only from a path. An ordinary word is not a person: folders have such names too.
    pub fn person(&mut self, name: &str) {
        let is_known = self.names.iter().any(|known| known.text == name);
        if is_known || name.chars().count() < SHORTEST_NAME || Vocabulary::builtin().has_word(name) {
            return;
        }
        let token = self.token("USER", name, true);
        self.alias_anywhere(name, &token);
        if let Some(known) = self.names.iter_mut().find(|known| known.text == name) {
            known.is_late = true;
        }
    }

    /// Known names, the longest first.
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// Finds tokens of this map in a text, with their brackets.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let Some(token) = TOKEN.as_ref().filter(|_| text.contains('[')) else { return Vec::new() };
        let is_own = |token: &str| {
            let kind = token.trim_matches(['[', ']']).rsplit_once('_');
            kind.is_some_and(|(kind, number)| {
                let count = self.counts.get(kind).copied().unwrap_or(0);
                number.parse::<usize>().is_ok_and(|number| (1..=count).contains(&number))
            })
        };
        let found =
            token.find_iter(text).filter(|found| found.as_str().starts_with('[') && found.as_str().ends_with(']'));
        found.filter(|found| is_own(found.as_str())).map(|found| found.range()).collect()
    }

    /// The text with names in place of its tokens. Unknown tokens stay.
    pub fn restored(&self, text: &str) -> String {
        self.replaced(text, |_, _, original| original.to_owned())
    }

    /// The text with names in place of tokens in brackets, and nothing else changed: data may have words that look like
    /// tokens.
    pub(crate) fn restored_in_brackets(&self, text: &str) -> String {
        let mut restored = String::new();
        let mut end = 0;
        for place in self.places(text) {
            let token = text.get(place.clone()).unwrap_or_default();
            restored.push_str(text.get(end..place.start).unwrap_or_default());
            restored.push_str(self.originals.get(token).map_or(token, String::as_str));
            end = place.end;
        }
        restored.push_str(text.get(end..).unwrap_or_default());
        restored
    }

    /// The existing token of a text.
    pub(crate) fn token_of(&self, original: &str) -> Option<&str> {
        self.tokens.get(original).map(String::as_str)
    }

    /// The text that a token stands for, even if it is never restored.
    pub(crate) fn original_of(&self, token: &str) -> Option<&str> {
        self.texts_of_tokens.get(token).map(String::as_str)
    }

    /// Returns whether a token is restored in answers.
    pub(crate) fn is_restored(&self, token: &str) -> bool {
        self.originals.contains_key(token)
    }

    /// All texts behind tokens, sorted.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.tokens.keys().map(String::as_str)
    }

    /// The text with brackets around all known tokens.
    pub fn bracketed(&self, text: &str) -> String {
        self.replaced(text, |_, token, _| token.to_owned())
    }

    /// The text with its known tokens replaced. `by` gets the text before a token, the token, and its original.
    pub(super) fn replaced(&self, text: &str, by: impl Fn(&str, &str, &str) -> String) -> String {
        let Some(pattern) = TOKEN.as_ref() else { return text.to_owned() };
        let replaced = pattern.replace_all(text, |found: &Captures<'_>| {
            let whole = found.get(0).map_or("", |part| part.as_str());
            let before = found.get(0).and_then(|part| text.get(..part.start())).unwrap_or_default();
            let token = format!("[{}]", found.get(1).map_or("", |part| part.as_str()));
            match self.originals.get(&token) {
                Some(original) => by(before, &token, original),
                None => whole.to_owned(),
            }
        });
        replaced.into_owned()
    }

    /// Returns whether a text has a token that is never restored.
    pub(crate) fn has_secret(&self, text: &str) -> bool {
        self.tokens.values().any(|token| !self.originals.contains_key(token) && text.contains(token))
    }

    /// The names behind the tokens of a text.
    pub fn names_in(&self, text: &str) -> Vec<KnownName> {
        let Some(pattern) = TOKEN.as_ref() else { return Vec::new() };
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for token in pattern.captures_iter(text).filter_map(|found| found.get(1)) {
            let token = format!("[{}]", token.as_str());
            let Some(original) = self.originals.get(&token).filter(|_| seen.insert(token.clone())) else { continue };
            let mut forms = vec![original.clone()];
            let others = self.names.iter().filter(|name| name.token == token && name.text != *original);
            forms.extend(others.map(|name| name.text.clone()));
            found.push(KnownName { kind: kind(&token).to_owned(), forms });
        }
        found
    }

    /// Makes a stored name known again.
    pub fn learn(&mut self, known: &KnownName) {
        let Some((first, others)) = known.forms.split_first() else { return };
        let token = self.name(&known.kind, first);
        others.iter().for_each(|form| self.alias(form, &token));
    }
}

/// The word in a token, without its number.
fn kind(token: &str) -> &str {
    token.trim_start_matches('[').rsplit_once('_').map_or("NAME", |(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_language_are_not_replaced_everywhere() {
        let mut map = TokenMap::default();
        for (kind, name) in [("TEXT", "size"), ("NAME", "reduce"), ("KERNEL", "hipMemcpy"), ("ARGUMENT", "batch")] {
            let token = map.name(kind, name);
            assert_eq!(map.restored(&token), name);
            assert!(map.names().is_empty(), "{name}");
        }
        map.name("USER", "mark");
        map.name("KERNEL", "fused idle kernel");
        assert_eq!(map.names().len(), 2);
    }

    #[test]
    fn tokens_lead_back() {
        let mut map = TokenMap::default();
        assert_eq!(map.name("KERNEL", "gemm<float>"), "[KERNEL_1]");
        assert_eq!(map.token("PATH", "/a/b", true), "[PATH_1]");
        assert_eq!(map.token("PATH", "/a/b", true), "[PATH_1]");
        assert_eq!(map.token("SECRET", "hunter2", false), "[SECRET_1]");
        let places = map.places("a [KERNEL_1] [KERNEL_2] KERNEL_1");
        assert_eq!((places.len(), places.first()), (1, Some(&(2..12))));
        let text = "[KERNEL_1] and KERNEL_1 read [PATH_1], not [PATH_2] or [SECRET_1]";
        assert_eq!(map.restored(text), "gemm<float> and gemm<float> read /a/b, not [PATH_2] or [SECRET_1]");
    }
}

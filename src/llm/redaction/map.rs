//! Which token stands for what. The map never leaves the process.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

/// Shorter names than this stand within too many words; rules still find them.
const SHORTEST_NAME: usize = 3;

/// A token, with its name and without its brackets where a model left them out.
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[?\b([A-Z]+_[0-9]+)\b\]?").ok());

/// A name with the other forms in which it is known, to be known again later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnownName {
    /// What its tokens are called.
    pub kind: String,
    pub forms: Vec<String>,
}

/// Tokens by what they stand for, and back.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenMap {
    tokens: BTreeMap<String, String>,
    originals: BTreeMap<String, String>,
    counts: BTreeMap<String, usize>,
    /// Known names in the order of falling length, with their tokens.
    names: Vec<(String, String)>,
}

impl TokenMap {
    /// The token for a text: that which it has, or a new one of this kind, such as `[PATH_1]`. One that is not restored
    /// stays in answers as it is.
    pub(crate) fn token(&mut self, kind: &str, original: &str, is_restored: bool) -> String {
        if let Some(token) = self.tokens.get(original) {
            return token.clone();
        }
        let count = self.counts.entry(kind.to_owned()).or_default();
        *count += 1;
        let token = format!("[{kind}_{count}]");
        self.tokens.insert(original.to_owned(), token.clone());
        if is_restored {
            self.originals.insert(token.clone(), original.to_owned());
        }
        token
    }

    /// A name that is replaced wherever it stands, with its token.
    pub(crate) fn name(&mut self, kind: &str, name: &str) -> String {
        let token = self.token(kind, name, true);
        self.alias(name, &token);
        token
    }

    /// Another form of what a token stands for.
    pub(crate) fn alias(&mut self, name: &str, token: &str) {
        let name = name.trim();
        if name.chars().count() < SHORTEST_NAME || self.names.iter().any(|(known, _)| known == name) {
            return;
        }
        let length = name.len();
        let place = self.names.partition_point(|(known, _)| known.len() >= length);
        self.names.insert(place, (name.to_owned(), token.to_owned()));
    }

    /// Known names, the longest first, with their tokens.
    pub(crate) fn names(&self) -> &[(String, String)] {
        &self.names
    }

    /// Where tokens of this map stand in a text, with their brackets.
    pub(crate) fn places(&self, text: &str) -> Vec<Range<usize>> {
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

    /// The text with what its tokens stand for. Tokens that nothing is known of stay.
    pub(crate) fn restored(&self, text: &str) -> String {
        self.restored_as(text, &|_, original| original.to_owned())
    }

    /// The same in another form: `form` gets what stands before a token, and what it stands for.
    pub(crate) fn restored_as(&self, text: &str, form: &dyn Fn(&str, &str) -> String) -> String {
        self.replaced(text, |before, _, original| form(before, original))
    }

    /// The text with brackets around all tokens that are known.
    pub(crate) fn bracketed(&self, text: &str) -> String {
        self.replaced(text, |_, token, _| token.to_owned())
    }

    /// The text with its known tokens replaced, by what `by` makes of what stands before them, of them, and of what they
    /// stand for.
    fn replaced(&self, text: &str, by: impl Fn(&str, &str, &str) -> String) -> String {
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

    /// Whether a text has a token that is never replaced back.
    pub(crate) fn has_secret(&self, text: &str) -> bool {
        self.tokens.values().any(|token| !self.originals.contains_key(token) && text.contains(token))
    }

    /// The names that the tokens of a text stand for.
    pub(crate) fn names_in(&self, text: &str) -> Vec<KnownName> {
        let Some(pattern) = TOKEN.as_ref() else { return Vec::new() };
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for token in pattern.captures_iter(text).filter_map(|found| found.get(1)) {
            let token = format!("[{}]", token.as_str());
            let Some(original) = self.originals.get(&token).filter(|_| seen.insert(token.clone())) else { continue };
            let kind = token.trim_start_matches('[').rsplit_once('_').map_or("NAME", |(kind, _)| kind);
            let mut forms = vec![original.clone()];
            let others = self.names.iter().filter(|(name, of)| *of == token && name != original);
            forms.extend(others.map(|(name, _)| name.clone()));
            found.push(KnownName { kind: kind.to_owned(), forms });
        }
        found
    }

    /// Knows a name again.
    pub(crate) fn learn(&mut self, known: &KnownName) {
        let Some((first, others)) = known.forms.split_first() else { return };
        let token = self.name(&known.kind, first);
        others.iter().for_each(|form| self.alias(form, &token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

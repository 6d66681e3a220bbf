//! Which token stands for what. The map never leaves the process.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Shorter names than this stand within too many words; rules still find them.
const SHORTEST_NAME: usize = 3;

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

    /// The text with what its tokens stand for. Tokens that nothing is known of stay.
    pub(crate) fn restored(&self, text: &str) -> String {
        self.restored_as(text, &|_, original| original.to_owned())
    }

    /// The same in another form: `form` gets what stands before a token, and what it stands for.
    pub(crate) fn restored_as(&self, text: &str, form: &dyn Fn(&str, &str) -> String) -> String {
        static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[?\b([A-Z]+_[0-9]+)\b\]?").ok());
        let Some(token) = TOKEN.as_ref() else { return text.to_owned() };
        let replaced = token.replace_all(text, |found: &Captures<'_>| {
            let whole = found.get(0).map_or("", |part| part.as_str());
            let bare = found.get(1).map_or("", |part| part.as_str());
            let original = self.originals.get(&format!("[{bare}]"));
            let before = found.get(0).and_then(|part| text.get(..part.start())).unwrap_or_default();
            original.map_or_else(|| whole.to_owned(), |original| form(before, original))
        });
        replaced.into_owned()
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
        let text = "[KERNEL_1] and KERNEL_1 read [PATH_1], not [PATH_2] or [SECRET_1]";
        assert_eq!(map.restored(text), "gemm<float> and gemm<float> read /a/b, not [PATH_2] or [SECRET_1]");
    }
}

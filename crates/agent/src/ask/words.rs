//! Turns texts into comparable words: `share/llm/search.toml` lists ignored words and synonyms.

use std::collections::{BTreeMap, BTreeSet};

/// Ignored words and synonyms.
pub(super) struct Words {
    ignored: BTreeSet<String>,
    same: BTreeMap<String, String>,
}

impl Words {
    /// Takes ignored words, and groups of synonyms: the first word of a group stands for all.
    pub(super) fn new(ignored: &BTreeSet<String>, groups: &[Vec<String>]) -> Self {
        let mut same = BTreeMap::new();
        for group in groups {
            let Some(first) = group.first().map(|word| stem(word)) else { continue };
            for word in group {
                same.insert(stem(word), first.clone());
            }
        }
        Self { ignored: ignored.clone(), same }
    }

    /// The significant words of a text.
    pub(super) fn of(&self, text: &str) -> BTreeSet<String> {
        self.pairs(text).into_iter().map(|(word, _)| word).collect()
    }

    /// The significant words of a text in order, each in its normal form and as written. Plain numbers are ignored.
    pub(super) fn pairs(&self, text: &str) -> Vec<(String, String)> {
        let counts = |word: &String| !self.ignored.contains(word) && !word.chars().all(char::is_numeric);
        split(text).into_iter().filter(counts).map(|word| (self.one(&word), word)).collect()
    }

    /// All words of a text, including ignored ones.
    pub(super) fn all(&self, text: &str) -> BTreeSet<String> {
        split(text).iter().map(|word| self.one(word)).collect()
    }

    fn one(&self, word: &str) -> String {
        let stem = stem(word);
        self.same.get(&stem).cloned().unwrap_or(stem)
    }
}

fn split(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// A word without its ending, so that its forms are equal; approximate, for English.
fn stem(word: &str) -> String {
    let without = |ending: &str, least: usize| word.strip_suffix(ending).filter(|rest| rest.chars().count() >= least);
    let (rest, is_cut) = match (without("ies", 2), without("ing", 3).or(without("ed", 3)).or(without("es", 3))) {
        (Some(rest), _) => return format!("{rest}y"),
        (None, Some(rest)) => (rest, true),
        (None, None) => match without("s", 3).filter(|rest| !rest.ends_with(['s', 'u', 'i'])) {
            Some(rest) => (rest, false),
            None => (word, false),
        },
    };
    let mut rest = rest.to_owned();
    let mut ends = rest.chars().rev();
    if is_cut && matches!((ends.next(), ends.next()), (Some(a), Some(b)) if a == b && !matches!(a, 'l' | 's' | 'e')) {
        rest.pop();
    }
    if rest.chars().count() > 3 && rest.ends_with('e') {
        rest.pop();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_the_same() {
        for forms in [
            &["copy", "copies", "copied"][..2],
            &["overlap", "overlaps", "overlapped", "overlapping"],
            &["idle", "idling"],
            &["time", "times", "timing"],
            &["stall", "stalls", "stalled"],
            &["launch", "launches", "launched"],
        ] {
            let stems: BTreeSet<String> = forms.iter().map(|word| stem(word)).collect();
            assert_eq!(stems.len(), 1, "{forms:?}: {stems:?}");
        }
        assert_eq!(stem("busy"), "busy");
        assert_eq!(stem("bus"), "bus");
    }

    #[test]
    fn words_are_as_they_are_compared_and_as_they_are_written() {
        let words = Words::new(&BTreeSet::from(["the".to_owned()]), &[vec!["copy".to_owned(), "transfer".to_owned()]]);
        let pairs = words.pairs("The 10 Transfers, of 2D");
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(word, written)| (word.as_str(), written.as_str())).collect();
        assert_eq!(pairs, [("copy", "transfers"), ("of", "of"), ("2d", "2d")]);
        assert_eq!(words.all("the copies"), BTreeSet::from(["copy".to_owned(), "the".to_owned()]));
    }
}

//! Splits sentences into clauses, and finds the figure that the clause of a percentage is about.

use std::collections::BTreeSet;
use std::ops::Range;

use super::table::{stem, words};
use wavesieve_engine::ColumnUnit;
use wavesieve_report::document::Figure;

/// Ends of sentences.
const SENTENCE_ENDS: [&str; 5] = [". ", "; ", "! ", "? ", "\n"];
/// Ends of clauses.
const CLAUSE_ENDS: [&str; 6] = [", ", " and ", " while ", " but ", " whereas ", " — "];

/// The text around a number.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around<'a> {
    pub sentence: &'a str,
    /// Its clause before and after the number.
    pub before: &'a str,
    pub after: &'a str,
}

impl<'a> Around<'a> {
    pub(super) fn new(text: &'a str, place: &Range<usize>) -> Self {
        let sentence = within(text, place, &SENTENCE_ENDS);
        let clause_ends: Vec<&str> = SENTENCE_ENDS.into_iter().chain(CLAUSE_ENDS).collect();
        let clause = within(text, place, &clause_ends);
        Self {
            sentence: text.get(sentence).unwrap_or_default(),
            before: text.get(clause.start..place.start).unwrap_or_default(),
            after: text.get(place.end..clause.end).unwrap_or_default(),
        }
    }
}

fn within(text: &str, place: &Range<usize>, ends: &[&str]) -> Range<usize> {
    let before = text.get(..place.start).unwrap_or_default();
    let start = ends.iter().filter_map(|end| Some(before.rfind(end)? + end.len())).max().unwrap_or(0);
    let after = text.get(place.end..).unwrap_or_default();
    let end = ends.iter().filter_map(|end| after.find(end)).min().map_or(text.len(), |end| place.end + end);
    start..end
}

/// A percentage that is a figure of a document.
#[derive(Clone, Debug)]
pub(super) struct Share {
    /// The words of its id, in the form of facts.
    pub stems: Vec<String>,
    /// Its names in texts: the words of its label, or of its id.
    names: [BTreeSet<String>; 2],
}

impl Share {
    /// Makes a share from a figure, if it is a percentage with specific words.
    pub(super) fn of_figure(figure: &Figure, stems: Vec<String>) -> Option<Self> {
        if figure.unit != ColumnUnit::Percent {
            return None;
        }
        let plain = &words().plain_words;
        let names = [said(&figure.label), stems.iter().cloned().collect()];
        let names = names.map(|name| name.into_iter().filter(|word| !plain.contains(word)).collect());
        Some(Self { stems, names })
    }

    fn names_in(&self, said: &BTreeSet<String>) -> Option<&BTreeSet<String>> {
        self.names.iter().find(|name| !name.is_empty() && name.is_subset(said))
    }
}

/// The words of a text in the singular.
fn said(text: &str) -> BTreeSet<String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(stem).collect()
}

/// The only figure that the clause of a percentage names, if it says nothing else: `idle is 33%`, but not `idle on rank
/// 2`.
pub(super) fn only_share<'a>(shares: &'a [Share], around: Around<'_>) -> Option<&'a Share> {
    let filling = &words().filling_words;
    let is_filling = |word: &String| filling.contains(word);
    let before = said(around.before);
    if !said(around.after).iter().all(is_filling) {
        return None;
    }
    let mut named = shares.iter().filter_map(|share| Some((share, share.names_in(&before)?)));
    let (share, name) = named.next()?;
    let is_other = named.any(|(other, _)| other.stems != share.stems);
    (!is_other && before.iter().all(|word| name.contains(word) || is_filling(word))).then_some(share)
}

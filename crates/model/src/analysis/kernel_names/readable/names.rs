//! The readable names of a document: no two kernels print alike.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::analysis::kernel_names::readable::readable;
use crate::analysis::kernel_names::readable::words::words;
use crate::text::fnv::fnv1a;

/// Words that are added to a name at most, before its hash is.
const MAX_ADDED: usize = 3;

/// Separator of kernels in a row.
const CHAIN: &str = " > ";

/// Readable names by full name.
#[derive(Clone, Debug, Default)]
pub struct ReadableNames(pub(super) BTreeMap<String, String>);

impl ReadableNames {
    /// The readable names of these kernels. Where several would be the same, the first words in which the full names
    /// differ are added, at last a hash of the full name. Names that already are readable stay.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let names: Vec<&str> = names.into_iter().collect();
        let forms: Vec<String> = names.par_iter().map(|name| readable(name)).collect();
        let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, form) in names.into_iter().zip(forms) {
            groups.entry(form).or_default().push(name);
        }
        let mut shown: Vec<(String, &str)> = Vec::new();
        for (form, group) in groups {
            match group.as_slice() {
                [only] => shown.push((form, only)),
                _ => distinguished(&form, group, &mut shown),
            }
        }
        Self(with_hashes(shown).into_iter().map(|(form, name)| (name.to_owned(), form)).collect())
    }

    /// The readable form of a name, or of several in a row. Other texts stay.
    pub fn shown<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        if let Some(form) = self.0.get(name) {
            return Cow::Borrowed(form);
        }
        if !name.contains(CHAIN) {
            return Cow::Borrowed(name);
        }
        let forms = kernels_in_row(name).into_iter().map(|part| self.0.get(part).map(String::as_str));
        let forms: Option<Vec<&str>> = forms.collect();
        forms.map_or(Cow::Borrowed(name), |forms| Cow::Owned(forms.join(CHAIN)))
    }

    /// Whether all names are shown as they are.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Full names with their readable forms, where they differ.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(|(name, form)| name != form)
    }

    /// All full names with their readable forms.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, form)| (name.as_str(), form.as_str()))
    }
}

/// The kernels of a chain, `add > mul`. A separator with open brackets before it is part of a name.
pub fn kernels_in_row(chain: &str) -> Vec<&str> {
    let is_closed = |part: &str| {
        let count = |bracket: char| part.matches(bracket).count();
        count('<') <= count('>') && count('(') <= count(')')
    };
    let (mut found, mut start) = (Vec::new(), 0);
    for (at, separator) in chain.match_indices(CHAIN) {
        if let Some(part) = chain.get(start..at).filter(|part| is_closed(part)) {
            found.push(part);
            start = at + separator.len();
        }
    }
    found.extend(chain.get(start..));
    found
}

/// Whether a text is the readable form of a name, with or without words that distinguish it in some document.
pub fn is_readable_form(text: &str, name: &str) -> bool {
    let Some(added) = text.strip_prefix(readable(name).as_str()) else { return false };
    let known = words(name);
    let hash = hash(name);
    let is_known = |word: &str| {
        known.iter().any(|known| known == word) || word.strip_prefix('#').is_some_and(|start| hash.starts_with(start))
    };
    added.is_empty() || added.starts_with(' ') && added.split_whitespace().all(is_known)
}

/// Sixteen hexadecimal digits of a name.
fn hash(name: &str) -> String {
    format!("{:016x}", fnv1a(name.as_bytes()))
}

/// A name with the words that are left to distinguish it.
type Worded<'a> = (&'a str, Vec<String>);

/// Adds words to the form of several names, until they differ or enough is added.
fn distinguished<'a>(form: &str, group: Vec<&'a str>, shown: &mut Vec<(String, &'a str)>) {
    let words_of: Vec<Worded<'_>> = group.into_iter().map(|name| (name, words(name))).collect();
    let mut open: Vec<(String, usize, Vec<Worded<'_>>)> = vec![(form.to_owned(), 0, words_of)];
    while let Some((form, added, group)) = open.pop() {
        if group.len() == 1 || added == MAX_ADDED {
            shown.extend(group.into_iter().map(|(name, _)| (form.clone(), name)));
            continue;
        }
        let mut parts: BTreeMap<String, Vec<Worded<'_>>> = BTreeMap::new();
        let next = first_difference(&group);
        for ((name, mut rest), (word, used)) in group.into_iter().zip(next) {
            rest.drain(..used.min(rest.len()));
            parts.entry(word).or_default().push((name, rest));
        }
        if parts.len() == 1 {
            let all = parts.into_values().flatten();
            shown.extend(all.map(|(name, _)| (form.clone(), name)));
            continue;
        }
        for (word, part) in parts {
            let form = if word.is_empty() { form.clone() } else { format!("{form} {word}") };
            open.push((form, added + 1, part));
        }
    }
}

/// For each name of a group, the first word in which it differs from others, and the number of words up to it. Names of
/// equal shape are compared place by place; otherwise, words that all of them have do not count.
fn first_difference(group: &[Worded<'_>]) -> Vec<(String, usize)> {
    let lengths: BTreeSet<usize> = group.iter().map(|(_, words)| words.len()).collect();
    let first = group.first().map(|(_, words)| words.as_slice()).unwrap_or_default();
    if lengths.len() == 1 {
        let differs = |place: &usize| group.iter().any(|(_, words)| words.get(*place) != first.get(*place));
        let place = (0..first.len()).find(differs);
        let word = |words: &Vec<String>| place.and_then(|place| words.get(place)).cloned().unwrap_or_default();
        return group.iter().map(|(_, words)| (word(words), place.map_or(0, |place| place + 1))).collect();
    }
    let mut common: BTreeSet<&str> = first.iter().map(String::as_str).collect();
    for (_, words) in group {
        let own: BTreeSet<&str> = words.iter().map(String::as_str).collect();
        common = common.intersection(&own).copied().collect();
    }
    let next = |words: &Vec<String>| {
        let place = words.iter().position(|word| !common.contains(word.as_str()));
        let word = place.and_then(|place| words.get(place)).cloned().unwrap_or_default();
        (word, place.map_or(words.len(), |place| place + 1))
    };
    group.iter().map(|(_, words)| next(words)).collect()
}

/// Adds a hash to names that are still alike, longer if needed, at last a number.
fn with_hashes(mut shown: Vec<(String, &str)>) -> Vec<(String, &str)> {
    for digits in [4, 16] {
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for (form, _) in &shown {
            *times.entry(form.as_str()).or_default() += 1;
        }
        let alike: BTreeSet<String> =
            times.into_iter().filter(|(_, times)| *times > 1).map(|(form, _)| form.to_owned()).collect();
        for (form, name) in shown.iter_mut().filter(|(form, _)| alike.contains(form)) {
            let hash = hash(name);
            form.push_str(" #");
            form.push_str(hash.get(..digits).unwrap_or(&hash));
        }
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (form, _) in &mut shown {
        let mut number = 1;
        while !taken.insert(form.clone()) {
            number += 1;
            form.push_str(&format!(" {number}"));
        }
    }
    shown
}

//! The named queries that fit a question best, by its words: `share/llm/search.toml`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::engine::{Query, Registry};

const TABLE: &str = include_str!("../../share/llm/search.toml");

/// Queries that are offered.
const MOST: usize = 5;
/// A query whose score is a smaller part of the best one is not offered.
const LEAST_SHARE: f64 = 0.35;
/// How much a question that a query is known for counts, if it is this one.
const OF_QUESTION: f64 = 14.0;
/// How much a word counts by where it stands.
const OF_NAME: f64 = 2.0;
const OF_ABOUT: f64 = 1.0;
const OF_COLUMN: f64 = 0.4;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    ignored: BTreeSet<String>,
    same: Vec<Vec<String>>,
    query: Vec<Known>,
}

/// What a query is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    name: String,
    asked: Vec<String>,
}

/// A query that may have the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suggested {
    pub query: String,
    pub title: String,
    pub about: String,
    /// The command that runs it.
    pub command: String,
}

/// A query by its words.
struct Entry<'a> {
    query: &'a Query,
    /// The words of the questions that it is known for.
    asked: Vec<BTreeSet<String>>,
    /// How much a word counts.
    weights: BTreeMap<String, f64>,
}

/// The queries of a registry by their words.
pub(crate) struct Search<'a> {
    words: Words,
    entries: Vec<Entry<'a>>,
    /// In how many queries a word stands.
    counts: BTreeMap<String, usize>,
}

impl<'a> Search<'a> {
    /// Takes the words of all queries.
    pub(crate) fn new(registry: &'a Registry) -> Self {
        let form: Form = toml::from_str(TABLE).unwrap_or_default();
        let words = Words::new(&form);
        let entries: Vec<Entry<'a>> = registry.iter().map(|query| entry(query, &form, &words)).collect();
        let mut counts = BTreeMap::new();
        for word in entries.iter().flat_map(|entry| entry.weights.keys()) {
            *counts.entry(word.clone()).or_default() += 1;
        }
        Self { words, entries, counts }
    }

    /// The queries that fit a question, the best first, of those that `is_offered` takes; `words` are those of the command line
    /// that name the inputs and the filters.
    pub(crate) fn find(&self, question: &str, words: &str, is_offered: &dyn Fn(&str) -> bool) -> Vec<Suggested> {
        let asked = self.words.of(question);
        let mut scored: Vec<(f64, &Entry<'_>)> = self
            .entries
            .iter()
            .filter(|entry| is_offered(&entry.query.name))
            .map(|entry| (self.score(&asked, entry), entry))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        // Equal ones stay in the order of the registry.
        scored.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        let best = scored.first().map_or(0.0, |(score, _)| *score);
        let fitting = scored.into_iter().take_while(|(score, _)| *score >= best * LEAST_SHARE).take(MOST);
        fitting
            .map(|(_, entry)| Suggested {
                query: entry.query.name.clone(),
                title: entry.query.declaration.title.clone(),
                about: entry.query.declaration.about.clone(),
                command: format!("wavesieve table {} {words}", entry.query.name),
            })
            .collect()
    }

    fn score(&self, asked: &BTreeSet<String>, entry: &Entry<'_>) -> f64 {
        let rarity = |word: &String| self.rarity(word);
        let of_words: f64 = asked.iter().filter_map(|word| Some(entry.weights.get(word)? * rarity(word))).sum();
        let of_questions = entry.asked.iter().map(|known| {
            let both: f64 = asked.intersection(known).map(rarity).sum();
            let any: f64 = asked.union(known).map(rarity).sum();
            if any > 0.0 { both / any } else { 0.0 }
        });
        of_words + OF_QUESTION * of_questions.fold(0.0, f64::max)
    }

    /// How much a word says: the fewer queries have it, the more.
    fn rarity(&self, word: &String) -> f64 {
        let count = self.counts.get(word).copied().unwrap_or(0);
        (1.0 + self.entries.len() as f64 / (1.0 + count as f64)).ln()
    }
}

fn entry<'a>(query: &'a Query, form: &Form, words: &Words) -> Entry<'a> {
    let declaration = &query.declaration;
    let mut weights: BTreeMap<String, f64> = BTreeMap::new();
    let mut add = |text: &str, weight: f64| {
        for word in words.of(text) {
            let known = weights.entry(word).or_default();
            *known = known.max(weight);
        }
    };
    add(&query.name, OF_NAME);
    add(&declaration.title, OF_NAME);
    add(&declaration.about, OF_ABOUT);
    for column in &declaration.columns {
        add(&column.name, OF_COLUMN);
        add(&column.doc, OF_COLUMN);
    }
    declaration.dimensions.iter().for_each(|name| add(name, OF_COLUMN));
    let known = form.query.iter().filter(|known| known.name == query.name).flat_map(|known| &known.asked);
    Entry { query, asked: known.map(|text| words.of(text)).collect(), weights }
}

/// From texts to words that can be compared.
struct Words {
    ignored: BTreeSet<String>,
    same: BTreeMap<String, String>,
}

impl Words {
    fn new(form: &Form) -> Self {
        let mut same = BTreeMap::new();
        for group in &form.same {
            let Some(first) = group.first().map(|word| stem(word)) else { continue };
            for word in group {
                same.insert(stem(word), first.clone());
            }
        }
        Self { ignored: form.ignored.clone(), same }
    }

    fn of(&self, text: &str) -> BTreeSet<String> {
        let lower = text.to_lowercase();
        let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let words = words.filter(|word| !self.ignored.contains(*word)).map(stem);
        words.map(|word| self.same.get(&word).cloned().unwrap_or(word)).collect()
    }
}

/// A word without its ending, so that its forms are the same: of English words, roughly.
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

    fn found(question: &str) -> Vec<String> {
        let registry = Registry::builtin().unwrap();
        Search::new(&registry).find(question, "traces/", &|_| true).into_iter().map(|one| one.query).collect()
    }

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

    /// Questions as people ask them; the first query, or one of two, has the answer.
    #[test]
    fn questions_find_a_sensible_query_first() {
        for (question, expected) in [
            ("which kernel takes most time", &["kernel_summary"][..]),
            ("Which kernels are the most expensive?", &["kernel_summary"]),
            ("how much are the GPUs idle", &["time_breakdown", "busy"]),
            ("Why is my GPU waiting?", &["idle_by_cause"]),
            ("slowest rank", &["stragglers", "rank_summary"]),
            ("Which worker lags behind the others?", &["stragglers"]),
            ("memory copies bandwidth", &["copy_summary", "link_utilization"]),
            ("How fast are my host-to-device transfers?", &["copy_summary"]),
            ("is communication overlapped", &["overlap"]),
            ("how much of the allreduce is hidden behind compute?", &["overlap"]),
            ("where is the time going?", &["time_breakdown"]),
            ("do I leak memory?", &["leak_candidates"]),
            ("what is the peak memory footprint", &["memory_high_water"]),
            ("are my kernels memory bound or compute bound?", &["bottlenecks"]),
            ("launch overhead of small kernels", &["short_kernels", "launch_summary"]),
            ("which HIP API call costs the most host time", &["api_summary"]),
            ("how long does one training step take?", &["iteration_summary", "iterations"]),
            ("Is the load balanced between ranks?", &["rank_imbalance"]),
            ("is the GPU throttling?", &["throttling"]),
            ("can I trust this trace", &["trace_health"]),
            ("which kernels spill registers", &["kernel_resources"]),
            ("Which hardware was this recorded on?", &["device_constants", "device_summary"]),
            ("What is the all-reduce bandwidth?", &["collectives", "collective_summary"]),
            ("Is the data loader the bottleneck?", &["idle_by_cause"]),
            ("Which rank / GPU is the slowest?", &["stragglers", "rank_summary"]),
            ("Why is the first iteration slower?", &["kernel_warmup"]),
            ("Is the GPU slow because of bank conflicts?", &["metrics", "bottlenecks", "counter_summary"]),
            ("Do my kernels reach peak flops?", &["roofline", "speed_of_light"]),
            ("how many kernels run concurrently", &["gpu_concurrency", "kernel_overlap_matrix"]),
        ] {
            let queries = found(question);
            let first = queries.first().map(String::as_str).unwrap_or_default();
            assert!(expected.contains(&first), "{question}: {queries:?}");
        }
    }

    #[test]
    fn every_known_question_finds_its_query() {
        let form: Form = toml::from_str(TABLE).unwrap();
        let registry = Registry::builtin().unwrap();
        for known in &form.query {
            assert!(registry.get(&known.name).is_ok(), "{}", known.name);
            for question in &known.asked {
                let queries = found(question);
                assert!(queries.iter().take(3).any(|name| *name == known.name), "{question}: {queries:?}");
            }
        }
    }

    #[test]
    fn what_has_no_words_of_queries_finds_nothing() {
        for question in ["", "  ", "???", "the of is", "zebra giraffe"] {
            assert!(found(question).is_empty(), "{question}: {:?}", found(question));
        }
    }
}

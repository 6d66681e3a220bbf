//! Finds the named queries that fit a question best, by its words: `share/llm/search.toml`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use regex::RegexBuilder;
use serde::Deserialize;

use super::words::Words;
use wavesieve_engine::{Query, Registry};

const TABLE: &str = data!("share/llm/search.toml");

/// Maximum number of suggested queries.
const MOST: usize = 5;
/// Minimum score of a suggested query, as a share of the best score.
const LEAST_SHARE: f64 = 0.35;
/// Weight of a similar known question.
const OF_QUESTION: f64 = 20.0;
/// Additional weight of a known question with the same words.
const OF_SAME_QUESTION: f64 = 8.0;
/// Weight of a word by its place.
const OF_NAME: f64 = 2.0;
const OF_ABOUT: f64 = 1.0;
const OF_COLUMN: f64 = 0.4;
/// Minimum similarity of a question that only has common words.
const LEAST_LIKENESS: f64 = 0.6;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchWordsFile {
    ignored: BTreeSet<String>,
    same: Vec<Vec<String>>,
    sure: f64,
    option: Vec<OptionHint>,
    query: Vec<Known>,
}

/// A part of a question that an option answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionHint {
    pattern: String,
    option: String,
}

/// A query with the questions that it answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    name: String,
    #[serde(default)]
    example: bool,
    #[serde(default)]
    records: Vec<String>,
    #[serde(default)]
    least_ranks: usize,
    asked: Vec<String>,
}

/// A query that may have the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggested {
    pub query: String,
    pub title: String,
    pub about: String,
    /// The command of the query.
    pub command: String,
}

/// A query that fits a question.
#[derive(Clone, Debug)]
pub struct Fit {
    pub suggested: Suggested,
    /// Similarity to the most similar known question, at most 1.
    pub likeness: f64,
    /// Words of the question that the query is not known for.
    pub unheard: Vec<String>,
}

/// A query with its words.
struct QueryWords<'a> {
    query: &'a Query,
    /// Each known question: its significant words, and all its words.
    asked: Vec<(BTreeSet<String>, BTreeSet<String>)>,
    weights: BTreeMap<String, f64>,
}

struct Asked {
    words: BTreeSet<String>,
    all: BTreeSet<String>,
}

/// The words of a registry's queries.
pub struct Search<'a> {
    form: SearchWordsFile,
    words: Words,
    entries: Vec<QueryWords<'a>>,
    /// The number of queries that have a word.
    counts: BTreeMap<String, usize>,
}

impl<'a> Search<'a> {
    /// Collects the words of all queries.
    pub fn new(registry: &'a Registry) -> Self {
        let form: SearchWordsFile = toml::from_str(TABLE).unwrap_or_default();
        let words = Words::new(&form.ignored, &form.same);
        let entries: Vec<QueryWords<'a>> = registry.iter().map(|query| entry(query, &form, &words)).collect();
        let mut counts = BTreeMap::new();
        for word in entries.iter().flat_map(|entry| entry.weights.keys()) {
            *counts.entry(word.clone()).or_default() += 1;
        }
        Self { form, words, entries, counts }
    }

    /// The queries that fit a question best, among those that `is_offered` accepts. `words` are the command-line words
    /// for the inputs and the filters.
    pub fn find(&self, question: &str, words: &str, is_offered: &dyn Fn(&str) -> bool) -> Vec<Suggested> {
        let asked = self.asked(question);
        let mut scored: Vec<(f64, &QueryWords<'_>)> = self.scored(&asked);
        scored.retain(|(_, entry)| is_offered(&entry.query.name));
        let best = scored.first().map_or(0.0, |(score, _)| *score);
        let fitting = scored.into_iter().take_while(|(score, _)| *score >= best * LEAST_SHARE).take(MOST);
        fitting.map(|(_, entry)| suggested(entry, words)).collect()
    }

    /// The queries that certainly fit a question, the best first: each is known for most of its words.
    pub fn fits(&self, question: &str, words: &str) -> Vec<Fit> {
        let asked = self.asked(question);
        let pairs = self.words.pairs(question);
        let named: BTreeSet<String> =
            self.named(question).into_iter().flat_map(|(_, part)| self.words.of(part)).collect();
        let fit = |entry: &QueryWords<'_>| {
            let heard = pairs.iter().partition::<Vec<_>, _>(|(word, _)| entry.is_known_for(word));
            let mass = |of: &[&(String, String)]| -> f64 {
                let words: BTreeSet<&String> = of.iter().map(|(word, _)| word).collect();
                words.into_iter().map(|word| self.rarity(word)).sum()
            };
            let (known, unheard) = heard;
            let likeness = self.likeness(&asked, entry);
            let is_sure = match asked.words.is_empty() {
                true => likeness >= LEAST_LIKENESS,
                false => mass(&known) >= self.form.sure * (mass(&known) + mass(&unheard)),
            };
            let unheard = unheard.into_iter().filter(|(word, _)| !named.contains(word));
            let unheard = unheard.map(|(_, written)| written.clone()).collect();
            is_sure.then(|| Fit { suggested: suggested(entry, words), likeness, unheard })
        };
        self.scored(&asked).into_iter().filter_map(|(_, entry)| fit(entry)).take(MOST).collect()
    }

    /// Example questions for queries that `is_offered` accepts.
    pub fn examples(&self, is_offered: &dyn Fn(&str) -> bool) -> Vec<&str> {
        let examples = self.form.query.iter().filter(|known| known.example && is_offered(&known.name));
        examples.filter_map(|known| known.asked.first()).map(String::as_str).collect()
    }

    /// Options that keep the rows of the question, such as `--rank 3`.
    pub fn options(&self, question: &str) -> Vec<String> {
        self.named(question).into_iter().map(|(option, _)| option).collect()
    }

    /// The options, with the parts of the question that they cover.
    fn named<'b>(&self, question: &'b str) -> Vec<(String, &'b str)> {
        let found = self.form.option.iter().filter_map(|hint| {
            let pattern = RegexBuilder::new(&hint.pattern).case_insensitive(true).build().ok()?;
            let found = pattern.captures(question)?;
            Some((hint.option.replace("{}", found.get(1)?.as_str()), found.get(0)?.as_str()))
        });
        found.collect()
    }

    /// The kinds of records that a query needs, if its tables do not show it.
    pub fn records(&self, query: &str) -> &[String] {
        self.form.query.iter().find(|known| known.name == query).map_or(&[], |known| &known.records)
    }

    /// The minimum number of ranks that a query needs for a comparison.
    pub fn least_ranks(&self, query: &str) -> usize {
        self.form.query.iter().find(|known| known.name == query).map_or(0, |known| known.least_ranks)
    }

    fn asked(&self, question: &str) -> Asked {
        Asked { words: self.words.of(question), all: self.words.all(question) }
    }

    /// The queries with a score, the best first.
    fn scored(&self, asked: &Asked) -> Vec<(f64, &QueryWords<'a>)> {
        let mut scored: Vec<(f64, &QueryWords<'_>)> = self
            .entries
            .iter()
            .map(|entry| (self.score(asked, entry), entry))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        // Equal scores keep the order of the registry.
        scored.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        scored
    }

    fn score(&self, asked: &Asked, entry: &QueryWords<'_>) -> f64 {
        let of_word = |word: &String| Some(entry.weights.get(word)? * self.rarity(word));
        let of_words: f64 = asked.words.iter().filter_map(of_word).sum();
        // A few common words in both are not significant.
        let says = |likeness: &f64| !asked.words.is_empty() || *likeness >= LEAST_LIKENESS;
        let likeness = Some(self.likeness(asked, entry)).filter(says).unwrap_or(0.0);
        let of_same = if likeness >= 1.0 { OF_SAME_QUESTION } else { 0.0 };
        of_words + OF_QUESTION * likeness + of_same
    }

    /// Similarity of a question to the most similar known one: the share of common words, weighted by rarity. If a
    /// question has only common words, all its words count.
    fn likeness(&self, asked: &Asked, entry: &QueryWords<'_>) -> f64 {
        let likeness = |known: &(BTreeSet<String>, BTreeSet<String>)| match asked.words.is_empty() {
            true if known.0.is_empty() => {
                let both = asked.all.intersection(&known.1).count();
                both as f64 / asked.all.union(&known.1).count().max(1) as f64
            }
            true => 0.0,
            false if asked.words == known.0 => 1.0,
            false => {
                let both: f64 = asked.words.intersection(&known.0).map(|word| self.rarity(word)).sum();
                let any: f64 = asked.words.union(&known.0).map(|word| self.rarity(word)).sum();
                if any > 0.0 { both / any } else { 0.0 }
            }
        };
        entry.asked.iter().map(likeness).fold(0.0, f64::max)
    }

    /// The weight of a word: the fewer queries have it, the higher.
    fn rarity(&self, word: &String) -> f64 {
        let count = self.counts.get(word).copied().unwrap_or(0);
        (1.0 + self.entries.len() as f64 / (1.0 + count as f64)).ln()
    }
}

impl QueryWords<'_> {
    /// Returns whether a word is in its name, its title or a known question.
    fn is_known_for(&self, word: &String) -> bool {
        let is_in_name = self.weights.get(word).is_some_and(|weight| *weight >= OF_NAME);
        is_in_name || self.asked.iter().any(|(words, _)| words.contains(word))
    }
}

fn suggested(entry: &QueryWords<'_>, words: &str) -> Suggested {
    let declaration = &entry.query.declaration;
    Suggested {
        query: entry.query.name.clone(),
        title: declaration.title.clone(),
        about: declaration.about.clone(),
        command: format!("wavesieve table {} {words}", entry.query.name),
    }
}

fn entry<'a>(query: &'a Query, form: &SearchWordsFile, words: &Words) -> QueryWords<'a> {
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
    QueryWords { query, asked: known.map(|text| (words.of(text), words.all(text))).collect(), weights }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wavesieve_tables::derive::health::is_kind;

    fn found(question: &str) -> Vec<String> {
        let registry = Registry::builtin().unwrap();
        Search::new(&registry).find(question, "traces/", &|_| true).into_iter().map(|one| one.query).collect()
    }

    fn fits(search: &Search<'_>, question: &str) -> Vec<String> {
        search.fits(question, "traces/").into_iter().map(|fit| fit.suggested.query).collect()
    }

    /// Questions in the words of engineers, each with its first query; questions about other subjects find nothing.
    const QUESTIONS: &str = include_str!("questions.txt");

    #[test]
    fn questions_find_a_sensible_query_first() {
        let registry = Registry::builtin().unwrap();
        let search = Search::new(&registry);
        for (question, expected) in QUESTIONS.lines().filter_map(|line| line.split_once(" -> ")) {
            let queries = fits(&search, question);
            assert_eq!(queries.first().map_or("nothing", String::as_str), expected, "{question}: {queries:?}");
        }
    }

    #[test]
    fn every_query_is_known_for_questions_that_find_it() {
        let registry = Registry::builtin().unwrap();
        let search = Search::new(&registry);
        for query in registry.iter() {
            let known = search.form.query.iter().filter(|known| known.name == query.name).count();
            assert_eq!(known, 1, "{}", query.name);
        }
        for known in &search.form.query {
            assert!(registry.get(&known.name).is_ok() && !known.asked.is_empty(), "{}", known.name);
            for what in &known.records {
                assert!(is_kind(what), "{}: {what}", known.name);
            }
            for question in &known.asked {
                let queries = fits(&search, question);
                let best = search.fits(question, "").first().map_or(0.0, |fit| fit.likeness);
                // A question that several queries are known for finds one of them first.
                assert!(queries.contains(&known.name) && best >= 1.0, "{question}: {queries:?}");
                assert!(queries.iter().take(2).any(|name| *name == known.name), "{question}: {queries:?}");
                let found = search.find(question, "traces/", &|_| true);
                assert!(found.iter().any(|one| one.query == known.name), "{question}");
            }
        }
    }

    #[test]
    fn words_that_did_not_count_and_filters_are_named() {
        let registry = Registry::builtin().unwrap();
        let search = Search::new(&registry);
        let fits = search.fits("Is compute of a worker overlapped with communication on the GPU, in rank 3?", "in");
        let best = fits.first().unwrap();
        assert_eq!((best.suggested.query.as_str(), best.unheard.join(",").as_str()), ("overlap", "gpu"));
        assert_eq!(search.options("in rank 3 and GPU 1, iteration 4"), ["--rank 3", "--gpu 1", "--iter 4..4"]);
        assert!(search.options("rank of the gpus").is_empty());
    }

    #[test]
    fn what_has_no_words_of_queries_finds_nothing() {
        for question in ["", "  ", "???", "the of is", "zebra giraffe"] {
            assert!(found(question).is_empty(), "{question}: {:?}", found(question));
        }
    }
}

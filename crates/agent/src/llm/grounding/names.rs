//! The names that an answer may use: names of the document and of this program.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use polars::prelude::DataFrame;
use regex::Regex;

use super::apis::{is_in_interface, is_of_interface};
use super::devices::Devices;
use super::table::words;
use wavesieve_engine::findings::RULES;
use wavesieve_engine::{ColumnUnit, OutputColumn, Registry};
use wavesieve_export::cell::Cell;
use wavesieve_model::analysis::hardware::metrics::Definitions;
use wavesieve_report::document::{Block, Document};

/// Minimum length of names to search: shorter ones occur within too many words.
const SHORTEST_NAME: usize = 4;
/// Maximum length of brackets after a name.
const LONGEST_BRACKETS: usize = 500;

static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"`([^`\n]+)`").ok());
static IDENTIFIER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:::|\.)[A-Za-z_~][A-Za-z0-9_]*)*").ok());
static OF_KERNEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b[Kk]ernels? ([A-Za-z][a-z0-9]*[A-Z0-9][A-Za-z0-9]*)\b|\b(?:[Tt]he|[Aa]n?|[Yy]our|[Tt]his|[Ii]ts) ([A-Z][A-Za-z0-9]*) kernels?\b",
    )
    .ok()
});

#[derive(Clone, Debug, Default)]
pub struct Names {
    words: BTreeSet<String>,
    /// Names with arbitrary characters, the longest first.
    long: Vec<String>,
    devices: Devices,
}

impl Names {
    /// Collects the names of a document, of queries, rules, metrics and counters.
    pub fn of_document(document: &Document, registry: &Registry) -> Self {
        let mut names = Self::default();
        for finding in &document.findings {
            for text in [&finding.id, &finding.rule, &finding.category].into_iter().chain(&finding.subject) {
                names.add(text);
            }
            for text in [&finding.title, &finding.explanation].into_iter().chain(&finding.advice) {
                names.add_words(text);
            }
            finding.commands.iter().flat_map(|command| &command.words).for_each(|word| names.add_words(word));
            for evidence in &finding.evidence {
                names.add_frame(&evidence.frame, &evidence.columns);
            }
        }
        for figure in &document.figures {
            names.add(&figure.id);
        }
        for section in &document.sections {
            names.add(&section.id);
            for block in &section.blocks {
                match block {
                    Block::Table(table) => {
                        names.add(&table.id);
                        names.add_frame(&table.frame, &table.columns);
                    }
                    Block::Note(note) => names.add_words(&note.text),
                    Block::Chart(drawn) => names.add(&drawn.id),
                }
            }
        }
        for input in &document.provenance.inputs {
            input.gpus.iter().chain(&input.hostname).chain([&input.path]).for_each(|text| names.add(text));
        }
        document.notes.iter().for_each(|note| names.add_words(&note.text));
        names.devices = Devices::of_words(&names.words);
        names.add_of_program(registry);
        names.long.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        names.long.dedup();
        names
    }

    fn add_of_program(&mut self, registry: &Registry) {
        for query in registry.iter() {
            self.add(&query.name);
            query.declaration.parameters.iter().for_each(|parameter| self.add(&parameter.name));
            query.declaration.dimensions.iter().chain(&query.declaration.needs).for_each(|name| self.add(name));
        }
        RULES.iter().for_each(|rule| self.add(rule.id));
        for metric in &Definitions::builtin().metrics {
            self.add(&metric.id);
            self.add_words(&metric.title);
            metric.on.iter().for_each(|on| self.add_words(&on.text));
        }
    }

    fn add(&mut self, text: &str) {
        if text.chars().count() >= SHORTEST_NAME {
            self.long.push(text.to_owned());
        }
        self.words.insert(text.to_lowercase());
        self.add_words(text);
    }

    fn add_words(&mut self, text: &str) {
        let Some(identifier) = IDENTIFIER.as_ref() else { return };
        for found in identifier.find_iter(text) {
            let word = found.as_str().to_lowercase();
            self.words.extend(word.split("::").map(ToOwned::to_owned));
            self.words.insert(word);
        }
    }

    fn add_frame(&mut self, frame: &DataFrame, columns: &[OutputColumn]) {
        for column in columns {
            self.add(&column.name);
            let Ok(values) = frame.column(&column.name) else { continue };
            for row in 0..frame.height() {
                if let Cell::Text(text) = Cell::new(values, row) {
                    if column.unit == ColumnUnit::Name { self.add(&text) } else { self.add_words(&text) }
                }
            }
        }
    }

    /// Finds names of the document in a text.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        for name in &self.long {
            for (start, found) in text.match_indices(name.as_str()) {
                let place = start..start + found.len();
                if is_whole(text, &place) && !places.iter().any(|taken| taken.contains(&place.start)) {
                    places.push(place);
                }
            }
        }
        places
    }

    /// Finds unknown names in a text, outside of the skipped ranges.
    pub fn unknown(&self, text: &str, skipped: &[Range<usize>]) -> Vec<Range<usize>> {
        let (Some(code), Some(identifier), Some(of_kernel)) = (CODE.as_ref(), IDENTIFIER.as_ref(), OF_KERNEL.as_ref())
        else {
            return Vec::new();
        };
        let is_skipped =
            |place: &Range<usize>| skipped.iter().any(|taken| taken.start < place.end && place.start < taken.end);
        let mut unknown: Vec<Range<usize>> = Vec::new();
        let spans: Vec<Range<usize>> =
            code.captures_iter(text).filter_map(|found| Some(found.get(1)?.range())).collect();
        for found in identifier.find_iter(text) {
            let (place, word) = (found.range(), found.as_str());
            let span = spans.iter().find(|span| span.start <= place.start && place.end <= span.end);
            // Words of prose are not names; code, or a word with inner capitals, is one.
            let is_name = is_composed(word) || span.is_some() && word.len() >= SHORTEST_NAME;
            let is_flag = text.get(..place.start).is_some_and(|before| before.ends_with(['-', '/', '@']));
            if !is_name || is_flag || is_skipped(&place) || self.is_known(word) {
                continue;
            }
            // A text in backticks is one name.
            let whole = span.cloned().unwrap_or_else(|| with_brackets(text, &place));
            if !unknown.iter().any(|taken| taken.start < whole.end && whole.start < taken.end) {
                unknown.push(whole);
            }
        }
        let named = of_kernel.captures_iter(text).filter_map(|found| found.get(1).or_else(|| found.get(2)));
        for found in named {
            let place = found.range();
            let is_new = !unknown.iter().any(|taken| taken.start < place.end && place.start < taken.end);
            if is_new && !is_skipped(&place) && !self.is_known(found.as_str()) {
                unknown.push(place);
            }
        }
        for place in self.devices.others(text) {
            let is_new = !unknown.iter().any(|taken| taken.start < place.end && place.start < taken.end);
            if is_new && !is_skipped(&place) {
                unknown.push(place);
            }
        }
        unknown
    }

    fn is_known(&self, word: &str) -> bool {
        let table = words();
        if self.has_word(word) || table.unchecked_words.contains(word) || is_technical(word) {
            return true;
        }
        if is_of_interface(word) {
            return is_in_interface(word);
        }
        let is_unchecked = table.unchecked_prefixes.iter().any(|prefix| word.starts_with(prefix.as_str()));
        // Two sentences without a blank between them, or several known names.
        let mut parts = word.split('.');
        is_unchecked
            || crate::llm::payload::Share::of_word(word).is_some()
            || word.contains('.')
                && parts.all(|part| !is_composed(part) && part.len() < SHORTEST_NAME || self.is_known(part))
    }

    /// Returns whether the document, a query, a rule or a metric has a word.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.contains(&word.to_lowercase())
    }
}

/// Returns whether a word looks like a name: parts joined by underscores or colons, or inner capitals.
fn is_composed(word: &str) -> bool {
    let mut before = ' ';
    let has_capitals = word.chars().any(|letter| {
        let turns = before.is_ascii_lowercase() && letter.is_ascii_uppercase();
        before = letter;
        turns
    });
    word.contains("::") || word.trim_matches('_').contains('_') || has_capitals && word.len() > SHORTEST_NAME
}

/// A name with its arguments in directly following brackets: `ncclDevKernel(ncclDevKernelArgs<4096>)`.
fn with_brackets(text: &str, place: &Range<usize>) -> Range<usize> {
    let behind = text.get(place.end..).unwrap_or_default();
    let (mut depth, mut length) = (0usize, 0);
    for (at, letter) in behind.char_indices().take(LONGEST_BRACKETS) {
        match letter {
            '(' | '<' => depth += 1,
            ')' | '>' if depth > 0 => {
                depth -= 1;
                length = if depth == 0 { at + 1 } else { length };
            }
            '\n' | '`' => break,
            _ if depth == 0 => break,
            _ => {}
        }
    }
    place.start..place.end + length
}

fn is_technical(word: &str) -> bool {
    static LOWER: LazyLock<BTreeSet<String>> =
        LazyLock::new(|| words().technical_words.iter().map(|word| word.to_lowercase()).collect());
    let lower = word.to_lowercase();
    LOWER.contains(&lower) || lower.strip_suffix('s').is_some_and(|one| LOWER.contains(one))
}

/// Returns whether a name is not part of a longer word.
fn is_whole(text: &str, place: &Range<usize>) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let name = text.get(place.clone()).unwrap_or_default();
    let before = text.get(..place.start).and_then(|before| before.chars().next_back());
    let after = text.get(place.end..).and_then(|after| after.chars().next());
    let is_joined =
        |inner: Option<char>, outer: Option<char>| inner.is_some_and(is_of_word) && outer.is_some_and(is_of_word);
    !is_joined(name.chars().next(), before) && !is_joined(name.chars().next_back(), after)
}

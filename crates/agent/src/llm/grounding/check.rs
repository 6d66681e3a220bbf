//! Compares an answer with a document, and marks statements that the document does not have.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::clauses::Around;
use super::collect::RESULTS_SECTION;
use super::command_check::{CheckOwn, Checks, is_variable};
use super::commands::commands;
use super::counters::Counters;
use super::facts::Facts;
use super::names::Names;
use super::numbers::numbers;
use super::suggested::{Suggested, suggested};
use super::table::words;
use wavesieve_engine::Registry;
use wavesieve_report::document::Document;

/// Marks a statement that is not in the document.
pub const MARK: &str = " [?]";

/// A value that is assigned to a setting.
static SETTING: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"([A-Za-z_][A-Za-z0-9_.]*)=[^\s`,;)]+").ok());
/// Arguments of a call, written as code.
static CALL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"`[^`\n]*[A-Za-z_>]\([^`\n]*\)[^`\n]*`").ok());

/// The facts and names of a document.
pub(crate) struct Grounding<'a> {
    facts: Facts,
    names: Names,
    checks: Checks<'a>,
    /// The word for the document in messages.
    source: &'static str,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Its paragraphs, with marks.
    pub paragraphs: Vec<String>,
    /// Statements that are not in the document, each once, in order.
    pub missing: Vec<String>,
    /// Number of numbers and commands that were checked.
    pub looked_for: usize,
}

/// A flaw to mark: its place, and its text in the list.
type Flaw = (Range<usize>, String);

impl<'a> Grounding<'a> {
    /// Collects the numbers and names of a document.
    pub fn new(document: &Document, registry: &'a Registry, check_own: CheckOwn<'a>) -> Self {
        let checks = Checks { own: check_own, counters: Counters::of_document(document), registry: Some(registry) };
        let is_of_results = document.sections.iter().any(|section| section.id == RESULTS_SECTION);
        let source = if is_of_results { "results" } else { "document" };
        Self { facts: Facts::of_document(document), names: Names::of_document(document, registry), checks, source }
    }

    /// The commands that an answer suggests.
    pub fn suggested(&self, texts: &[String], structured: &[String]) -> Vec<Suggested> {
        suggested(texts, structured, &self.checks)
    }

    /// Checks the paragraphs of an answer.
    pub fn check(&self, paragraphs: &[String]) -> Checked {
        let mut checked = Checked::default();
        for text in paragraphs {
            let mut flaws = self.flaws(text, &mut checked.looked_for);
            flaws.sort_by_key(|(place, _)| place.start);
            let mut marked = String::with_capacity(text.len() + flaws.len() * MARK.len());
            let mut end = 0;
            for (place, flaw) in flaws {
                if place.end > end {
                    // The mark comes after a backtick that ends code, and after the bracket that ends a token.
                    let is_inside = text.get(place.end..).is_some_and(|rest| rest.starts_with(['`', ']']));
                    let stop = if is_inside { place.end + 1 } else { place.end };
                    marked.push_str(text.get(end..stop).unwrap_or_default());
                    marked.push_str(MARK);
                    end = stop;
                }
                if !checked.missing.contains(&flaw) {
                    checked.missing.push(flaw);
                }
            }
            marked.push_str(text.get(end..).unwrap_or_default());
            checked.paragraphs.push(marked);
        }
        checked
    }

    fn flaws(&self, text: &str, looked_for: &mut usize) -> Vec<Flaw> {
        let shown = |place: &Range<usize>| text.get(place.clone()).unwrap_or_default().to_owned();
        let mut flaws = Vec::new();
        let mut skipped = Vec::new();
        for command in commands(text, &self.checks) {
            *looked_for += 1;
            if let Some(problem) = command.problem {
                flaws.push((command.place.clone(), format!("command not confirmed: {} ({problem})", command.line)));
            }
            skipped.push(command.place);
        }
        skipped.extend(self.names.places(text));
        let mut not_of_trace = skipped.clone();
        not_of_trace.extend(self.settings(text));
        let source = self.source;
        let unknown = self.names.unknown(text, &skipped);
        // Numbers in the brackets of a name are a part of it.
        let has_brackets = |place: &&Range<usize>| shown(place).contains(['(', '<']);
        not_of_trace.extend(unknown.iter().filter(has_brackets).cloned());
        for found in numbers(text, &not_of_trace) {
            *looked_for += 1;
            if !self.facts.support(&found, Around::new(text, &found.place)) {
                flaws.push((found.place.clone(), format!("number not in the {source}: {}", shown(&found.place))));
            }
        }
        for place in unknown {
            flaws.push((place.clone(), format!("name not in the {source}: {}", shown(&place))));
        }
        for place in self.unknown_variables(text, &skipped) {
            flaws.push((place.clone(), format!("no variable that is known: {}", shown(&place))));
        }
        flaws
    }

    /// Variables that a text sets, with names in the style of the field, but unknown.
    fn unknown_variables(&self, text: &str, skipped: &[Range<usize>]) -> Vec<Range<usize>> {
        let Some(setting) = SETTING.as_ref() else { return Vec::new() };
        let is_skipped =
            |place: &Range<usize>| skipped.iter().any(|taken| taken.start < place.end && place.start < taken.end);
        let is_of_field = |name: &str| {
            let is_upper =
                name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
            is_upper && words().unchecked_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
        };
        let unknown = setting.captures_iter(text).filter_map(|found| {
            let (whole, name) = (found.get(0)?, found.get(1)?.as_str());
            let is_unknown = is_of_field(name) && !is_variable(name) && !self.names.has_word(name);
            let place = whole.start()..whole.start() + whole.as_str().trim_end_matches(['.', ':', '!', '?']).len();
            (is_unknown && !is_skipped(&place)).then_some(place)
        });
        unknown.collect()
    }

    /// Ranges of setting values that do not belong to a figure, and of call arguments in code.
    fn settings(&self, text: &str) -> Vec<Range<usize>> {
        let (Some(setting), Some(call)) = (SETTING.as_ref(), CALL.as_ref()) else { return Vec::new() };
        let settings = setting
            .captures_iter(text)
            .filter(|found| !found.get(1).is_some_and(|name| self.names.has_word(name.as_str())));
        let settings = settings.filter_map(|found| Some(found.get(0)?.range()));
        settings.chain(call.find_iter(text).map(|found| found.range())).collect()
    }
}

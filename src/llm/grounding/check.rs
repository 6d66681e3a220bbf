//! Compares an answer with a document, and marks what is not in it.

use std::ops::Range;

use super::commands::{CheckOwn, commands};
use super::facts::Facts;
use super::names::Names;
use super::numbers::numbers;
use crate::engine::Registry;
use crate::report::document::Document;

/// What stands behind something that is not in the document.
pub(crate) const MARK: &str = " [?]";

/// What a document has.
pub(crate) struct Grounding<'a> {
    facts: Facts,
    names: Names,
    check_own: CheckOwn<'a>,
}

/// An answer that was compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    /// Its paragraphs, with marks.
    pub paragraphs: Vec<String>,
    /// What is not in the document, each once, in order.
    pub missing: Vec<String>,
    /// Numbers and commands that were looked for.
    pub looked_for: usize,
}

/// Something that is marked: its place, and how the list has it.
type Flaw = (Range<usize>, String);

impl<'a> Grounding<'a> {
    /// Takes the numbers and names of a document.
    pub(crate) fn new(document: &Document, registry: &Registry, check_own: CheckOwn<'a>) -> Self {
        Self { facts: Facts::of_document(document), names: Names::of_document(document, registry), check_own }
    }

    /// Compares the paragraphs of an answer.
    pub(crate) fn check(&self, paragraphs: &[String]) -> Checked {
        let mut checked = Checked::default();
        for text in paragraphs {
            let mut flaws = self.flaws(text, &mut checked.looked_for);
            flaws.sort_by_key(|(place, _)| place.start);
            let mut marked = String::with_capacity(text.len() + flaws.len() * MARK.len());
            let mut end = 0;
            for (place, flaw) in flaws {
                if place.end > end {
                    // Behind the backtick that ends code, and the bracket that ends a token.
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
        for command in commands(text, self.check_own) {
            *looked_for += 1;
            if let Some(problem) = command.problem {
                flaws.push((command.place.clone(), format!("command not confirmed: {} ({problem})", command.line)));
            }
            skipped.push(command.place);
        }
        skipped.extend(self.names.places(text));
        for found in numbers(text, &skipped) {
            *looked_for += 1;
            if !self.facts.support(&found) {
                flaws.push((found.place.clone(), format!("number not in the document: {}", shown(&found.place))));
            }
        }
        for place in self.names.unknown(text, &skipped) {
            flaws.push((place.clone(), format!("name not in the document: {}", shown(&place))));
        }
        flaws
    }
}

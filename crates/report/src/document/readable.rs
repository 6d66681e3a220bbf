//! A document for screens: readable names of kernels in place of full ones.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::model::{Block, Document};
use wavesieve_engine::findings::{Finding, headline_finding, shortened_as_in_findings};
use wavesieve_engine::with_readable_names;
use wavesieve_model::analysis::kernel_names::ReadableNames;

impl Document {
    /// The document as screens show it. Data of other formats, commands and links keep the full names.
    pub fn readable(&self) -> Cow<'_, Self> {
        if self.names.is_empty() {
            return Cow::Borrowed(self);
        }
        let sentences = Sentences::new(&self.names);
        let mut shown = self.clone();
        shown.summary = sentences.shown(&self.summary, headline_finding(&self.findings));
        for finding in &mut shown.findings {
            *finding = sentences.finding(finding);
            for evidence in &mut finding.evidence {
                evidence.frame = with_readable_names(&evidence.frame, &self.names);
            }
        }
        for block in shown.sections.iter_mut().flat_map(|section| &mut section.blocks) {
            if let Block::Table(table) = block {
                table.frame = with_readable_names(&table.frame, &self.names);
            }
        }
        Cow::Owned(shown)
    }

    /// The chosen findings, with their titles as screens show them.
    pub fn with_titles(&self, is_chosen: impl Fn(&Finding) -> bool) -> Vec<(&Finding, String)> {
        let sentences = Sentences::new(&self.names);
        let chosen = self.findings.iter().filter(|finding| is_chosen(finding));
        chosen.map(|finding| (finding, sentences.shown(&finding.title, Some(finding)))).collect()
    }
}

/// Full names with their readable forms, as long as names in sentences.
type Forms<'a> = Vec<(&'a str, String)>;

/// Names as sentences have them, with their readable forms, the longest first. Names that stay are among them, so that no
/// shorter name is found in them.
pub(crate) struct Sentences<'a>(Vec<(String, Forms<'a>)>);

impl<'a> Sentences<'a> {
    /// The names of a document.
    pub fn new(names: &'a ReadableNames) -> Self {
        let mut found: BTreeMap<String, Forms<'_>> = BTreeMap::new();
        for (name, form) in names.all() {
            found.entry(shortened_as_in_findings(name)).or_default().push((name, shortened_as_in_findings(form)));
        }
        let mut found: Vec<_> = found.into_iter().filter(|(cut, _)| !cut.is_empty()).collect();
        found.sort_by_key(|(cut, _)| std::cmp::Reverse(cut.len()));
        Self(found)
    }

    /// A finding with readable names in its sentences.
    pub fn finding(&self, finding: &Finding) -> Finding {
        let shown = |text: &String| self.shown(text, Some(finding));
        Finding {
            title: shown(&finding.title),
            explanation: shown(&finding.explanation),
            advice: finding.advice.iter().map(shown).collect(),
            subject: finding.subject.as_ref().map(shown),
            ..finding.clone()
        }
    }

    /// A text of a finding. Where a cut name could be of several kernels, it is of the one that the finding is about, or
    /// stays. Code between backticks stays too, because commands need full names.
    pub fn shown(&self, text: &str, finding: Option<&Finding>) -> String {
        let own = finding.and_then(|finding| finding.kernel.as_deref().or(finding.subject.as_deref()));
        let present = self.0.iter().filter(|(cut, _)| text.contains(cut.as_str()));
        let present: Vec<(&str, &str)> =
            present.map(|(cut, group)| (cut.as_str(), form(group, own).unwrap_or(cut.as_str()))).collect();
        let mut shown = String::with_capacity(text.len());
        for (place, part) in text.split('`').enumerate() {
            if place > 0 {
                shown.push('`');
            }
            if place % 2 == 1 {
                shown.push_str(part);
            } else {
                add_renamed(&mut shown, part, &present);
            }
        }
        shown
    }
}

/// The form of a cut name that only one kernel has, or else of the kernel that a finding is about.
fn form<'b>(group: &'b [(&str, String)], own: Option<&str>) -> Option<&'b str> {
    match group {
        [(_, form)] => Some(form.as_str()),
        _ => group.iter().find(|(name, _)| Some(*name) == own).map(|(_, form)| form.as_str()),
    }
}

/// Adds a text with the second of each pair in place of the first, where that is a whole name.
fn add_renamed(shown: &mut String, text: &str, names: &[(&str, &str)]) {
    let mut before: Option<char> = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let found = names.iter().find_map(|(cut, form)| {
            let behind = rest.strip_prefix(*cut)?;
            (!before.is_some_and(goes_on_before) && !goes_on(behind)).then_some((*cut, *form, behind))
        });
        let (taken, behind) = match found {
            Some((cut, form, behind)) => {
                shown.push_str(form);
                (cut.chars().next_back(), behind)
            }
            None => {
                shown.push(first);
                (Some(first), rest.get(first.len_utf8()..).unwrap_or_default())
            }
        };
        (before, rest) = (taken, behind);
    }
}

/// Whether a character is in the middle of names of kernels, cut names and paths.
fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '/' | '\\' | '-' | '…' | '<')
}

/// Whether what comes after this character is only the rest of a name.
fn goes_on_before(last: char) -> bool {
    is_of_name(last) || matches!(last, ':' | '.')
}

/// Whether a name goes on with this text. A sentence may end or pause with a dot or colon.
fn goes_on(text: &str) -> bool {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(':'), Some(':')) | (Some('>' | '('), _) => true,
        (Some('.'), Some(next)) => is_of_name(next),
        (Some(first), _) => is_of_name(first),
        (None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_get_the_readable_name() {
        let long = format!("void ns::gemm<float, {}>(float*)", "int, ".repeat(30));
        let names = ReadableNames::new([long.as_str(), "k(int)", "void k2<float>(int)"]);
        let sentences = Sentences::new(&names);
        let text = format!("Hotspot: {} and k(int)", shortened_as_in_findings(&long));
        assert_eq!(sentences.shown(&text, None), "Hotspot: gemm<float, int> and k");
    }

    #[test]
    fn only_whole_names_outside_of_code_change() {
        let names = ReadableNames::new(["k(int)"]);
        let sentences = Sentences::new(&names);
        assert_eq!(sentences.shown("Hotspot: k(int), (k(int)): k(int).", None), "Hotspot: k, (k): k.");
        for text in ["`table q run k(int)`", "my_k(int)", "run/k(int)", "ns::k(int)", "k(int)_v2", "k(int).kd"] {
            assert_eq!(sentences.shown(text, None), text);
        }
    }

    #[test]
    fn longest_name_wins_even_if_it_stays() {
        let names = ReadableNames::new(["q_a.kd", "x q_a.kd y"]);
        assert_eq!(names.shown("x q_a.kd y"), "x q_a.kd y");
        assert_eq!(Sentences::new(&names).shown("x q_a.kd y, q_a.kd", None), "x q_a.kd y, q_a");
    }

    #[test]
    fn forms_are_as_short_as_names_in_sentences() {
        let long = format!("{}(int)", "k".repeat(500));
        let names = ReadableNames::new([long.as_str()]);
        let shown = Sentences::new(&names).shown(&format!("Hotspot: {}", shortened_as_in_findings(&long)), None);
        assert!(shown.chars().count() < 80, "{shown}");
    }
}

//! A document for screens: readable names of kernels in place of full ones.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::model::{Block, Document};
use wavesieve_engine::findings::{Finding, shortened_as_in_findings};
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
        shown.summary = sentences.shown(&self.summary, self.findings.first());
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
}

/// Full names with their readable forms.
type Forms<'a> = Vec<(&'a str, &'a str)>;

/// Names as sentences have them, with their readable forms, the longest first.
pub(crate) struct Sentences<'a>(Vec<(String, Forms<'a>)>);

impl<'a> Sentences<'a> {
    /// The names of a document.
    pub fn new(names: &'a ReadableNames) -> Self {
        let mut found: BTreeMap<String, Forms<'_>> = BTreeMap::new();
        for (name, form) in names.pairs() {
            found.entry(shortened_as_in_findings(name)).or_default().push((name, form));
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
    /// stays.
    pub fn shown(&self, text: &str, finding: Option<&Finding>) -> String {
        let own = finding.and_then(|finding| finding.kernel.as_deref().or(finding.subject.as_deref()));
        let form = |group: &Forms<'a>| match group.as_slice() {
            [(_, form)] => Some(*form),
            _ => group.iter().find(|(name, _)| Some(*name) == own).map(|(_, form)| *form),
        };
        let present = self.0.iter().filter(|(cut, _)| text.contains(cut.as_str()));
        let present: Vec<(&str, &str)> =
            present.filter_map(|(cut, group)| Some((cut.as_str(), form(group)?))).collect();
        let (mut shown, mut rest) = (String::new(), text);
        while let Some(first) = rest.chars().next() {
            let found = present.iter().find_map(|(cut, form)| Some((*form, rest.strip_prefix(*cut)?)));
            rest = match found {
                Some((form, behind)) => {
                    shown.push_str(form);
                    behind
                }
                None => {
                    shown.push(first);
                    rest.get(first.len_utf8()..).unwrap_or_default()
                }
            };
        }
        shown
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
}

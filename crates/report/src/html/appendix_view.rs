//! The origin of a document, prepared for the templates.

use std::collections::BTreeSet;

use serde::Serialize;

use super::finding_view::FindingView;
use super::section_view::SectionView;
use super::table_view::TableView;
use crate::document::Document;

/// The end of the page.
#[derive(Serialize)]
pub(crate) struct AppendixView {
    version: String,
    tier: u8,
    tier_name: String,
    processes: usize,
    inputs: Vec<InputView>,
    filters: Vec<String>,
    left_out: Vec<Reason>,
    failures: Vec<Reason>,
    damage: Vec<String>,
    /// Names that tables cut.
    names: Vec<String>,
    glossary: Vec<Entry>,
}

#[derive(Serialize)]
struct InputView {
    rank: i64,
    path: String,
    format: String,
    hostname: String,
    gpus: String,
}

#[derive(Serialize)]
struct Reason {
    subject: String,
    reason: String,
}

/// The columns of a table.
#[derive(Serialize)]
struct Entry {
    title: String,
    id: String,
    columns: Vec<(String, String)>,
}

impl AppendixView {
    /// The appendix of a document with these sections and findings.
    pub fn new(document: &Document, sections: &[SectionView], findings: &[FindingView]) -> Self {
        let provenance = &document.provenance;
        let inputs = provenance.inputs.iter().map(|input| InputView {
            rank: input.rank,
            path: input.path.clone(),
            format: format!("{} {}", input.format, input.schema_version.as_deref().unwrap_or_default())
                .trim()
                .to_owned(),
            hostname: input.hostname.clone().unwrap_or_default(),
            gpus: input.gpus.join(" "),
        });
        let reasons = |pairs: &[(String, String)]| -> Vec<Reason> {
            let reason =
                |(subject, reason): &(String, String)| Reason { subject: subject.clone(), reason: reason.clone() };
            pairs.iter().map(reason).collect()
        };
        let glossary = sections.iter().flat_map(SectionView::tables).map(|table| {
            let (title, id) = table.title();
            let columns = table.columns().map(|(name, doc)| (name.to_owned(), doc.to_owned())).collect();
            Entry { title: title.to_owned(), id: id.to_owned(), columns }
        });
        let of_sections = sections.iter().flat_map(SectionView::tables).flat_map(TableView::long_names);
        let of_findings = findings.iter().flat_map(FindingView::evidence).flat_map(TableView::cut_names);
        let mut seen = BTreeSet::new();
        Self {
            version: provenance.version.clone(),
            tier: document.tier,
            tier_name: document.depth(),
            processes: provenance.processes,
            inputs: inputs.collect(),
            filters: provenance.filters.iter().map(|(option, value)| format!("{option} {value}")).collect(),
            left_out: reasons(&provenance.left_out),
            failures: reasons(&provenance.failures),
            damage: provenance.damage.clone(),
            names: of_sections.chain(of_findings).filter(|name| seen.insert(name.clone())).collect(),
            glossary: glossary.collect(),
        }
    }
}

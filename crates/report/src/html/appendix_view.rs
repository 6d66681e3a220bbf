//! The provenance of a document, prepared for the templates.

use std::collections::BTreeSet;

use serde::Serialize;

use super::finding_view::{FindingView, NoteView};
use super::section_view::SectionView;
use super::table_view::TableView;
use crate::document::{Document, Provenance};

/// The end of the page.
#[derive(Serialize)]
pub(crate) struct AppendixView {
    notes: Vec<NoteView>,
    provenance: Provenance,
    tier: u8,
    tier_name: String,
    /// Full names that tables cut or show in readable form, each after that form.
    names: Vec<(String, String)>,
    glossary: Vec<AppendixEntry>,
}

/// The columns of a table.
#[derive(Serialize)]
struct AppendixEntry {
    title: String,
    id: String,
    columns: Vec<(String, String)>,
}

impl AppendixView {
    /// The appendix of a document with these sections and findings.
    pub fn new(document: &Document, sections: &[SectionView], findings: &[FindingView]) -> Self {
        let glossary = sections.iter().flat_map(SectionView::tables).map(|table| {
            let (title, id) = table.title();
            let columns = table.columns().map(|(name, doc)| (name.to_owned(), doc.to_owned())).collect();
            AppendixEntry { title: title.to_owned(), id: id.to_owned(), columns }
        });
        let of_sections = sections.iter().flat_map(SectionView::tables).flat_map(TableView::long_names);
        let of_findings = findings.iter().flat_map(FindingView::evidence).flat_map(TableView::cut_names);
        let mut seen = BTreeSet::new();
        Self {
            notes: document.details().1.iter().map(NoteView::new).collect(),
            provenance: document.provenance.clone(),
            tier: document.tier,
            tier_name: document.depth(),
            names: of_sections
                .chain(of_findings)
                .filter(|name| seen.insert(name.clone()))
                .map(|name| {
                    let form = document.names.shown(&name).into_owned();
                    (if form == name { String::new() } else { form }, name)
                })
                .collect(),
            glossary: glossary.collect(),
        }
    }
}

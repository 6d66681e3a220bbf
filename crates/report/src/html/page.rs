//! Writes a document as a page.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::appendix_view::AppendixView;
use super::finding_view::{Badge, FindingView, NoteView, Piece, badges, text};
use super::section_view::SectionView;
use super::shell::{Shell, render};
use super::table_view::grouped;
use super::timeline_view::{TimelineView, placed};
use crate::document::{Document, Figure, Sentences, Status};
use crate::json;
use wavesieve_engine::ColumnUnit;
use wavesieve_engine::findings::{headline_finding, shortened, shown_commands};
use wavesieve_export::cell::Cell;
use wavesieve_model::text::hidden::is_hidden;

/// Maximum length of a text in the document that a page holds; no sentence or name is longer.
const LONGEST_TEXT: usize = 4000;

/// Text of the filter.
const FILTER: &str = "Filter all tables and findings";

/// Input of the templates.
#[derive(Serialize)]
struct Page {
    title: String,
    summary: Vec<Piece>,
    /// Lines before the first finding.
    opening: Vec<Vec<Piece>>,
    notes: Vec<NoteView>,
    views: Vec<ViewLine>,
    is_judged: bool,
    badges: Vec<Badge>,
    facts: Vec<FigureView>,
    cards: Vec<FigureView>,
    parts: Vec<PartView>,
    gpus: String,
    findings: Vec<FindingView>,
    /// Sections before the findings.
    answers: Vec<SectionView>,
    sections: Vec<SectionView>,
    appendix: AppendixView,
    shell: Shell,
    json: String,
    timeline: Option<TimelineView>,
}

/// How the GPUs spent the time of a view of the run.
#[derive(Serialize)]
struct ViewLine {
    id: &'static str,
    label: &'static str,
    text: String,
}

#[derive(Serialize)]
struct FigureView {
    id: String,
    label: String,
    doc: String,
    value: String,
    raw: String,
    status: Status,
    share: Option<String>,
}

/// A part of the total time.
#[derive(Serialize)]
struct PartView {
    role: &'static str,
    label: String,
    value: String,
    share: String,
}

/// Writes the document as one HTML file that loads nothing.
///
/// # Errors
/// When a chart cannot be drawn, or writing fails.
pub fn write(document: &Document, out: &mut dyn Write) -> Result<()> {
    let page = page(document)?;
    render("page.html", &page, out)
}

fn page(document: &Document) -> Result<Page> {
    let names = &document.names;
    let sentences = Sentences::new(names);
    let views = document.sections.iter().map(|section| SectionView::new(section, names));
    let mut answers = views.collect::<Result<Vec<SectionView>>>()?;
    let placed = placed(document.timeline.as_ref());
    let findings = document.findings.iter().enumerate();
    let findings: Vec<FindingView> = findings
        .map(|(place, finding)| {
            let shown = shown_commands(&document.findings, place);
            let has_place = placed.contains(finding.id.as_str());
            FindingView::new(place + 1, &sentences.finding(finding), &shown, names, has_place)
        })
        .collect();
    let (facts, cards): (Vec<&Figure>, Vec<&Figure>) =
        document.figures.iter().partition(|figure| figure.unit == ColumnUnit::Count);
    let gpus: BTreeSet<&str> =
        document.provenance.inputs.iter().flat_map(|input| &input.gpus).map(String::as_str).collect();
    let (opening, notes) = document.opening();
    let timeline = document.timeline.as_ref().map(TimelineView::new).transpose()?;
    Ok(Page {
        title: document.title.clone(),
        summary: text(&sentences.shown(&document.summary, headline_finding(&document.findings))),
        // Without findings, the figures with the views follow at once.
        opening: opening.iter().filter(|_| !document.findings.is_empty()).map(|line| text(line)).collect(),
        views: document.views.lines().into_iter().map(|(id, label, text)| ViewLine { id, label, text }).collect(),
        notes: notes.iter().map(NoteView::new).collect(),
        is_judged: document.is_judged,
        badges: badges(&document.findings),
        // The badges already show the number of findings.
        facts: facts.into_iter().filter(|figure| !figure.id.ends_with("_findings")).map(figure).collect(),
        cards: cards.into_iter().map(figure).collect(),
        parts: parts(document),
        gpus: gpus.into_iter().collect::<Vec<&str>>().join(", "),
        appendix: AppendixView::new(document, &answers, &findings),
        findings,
        sections: answers.split_off(document.around_findings().0.len()),
        answers,
        shell: match timeline {
            Some(_) => Shell::with_timeline(FILTER),
            None => Shell::new(FILTER),
        },
        json: embedded(document)?,
        timeline,
    })
}

/// The whole document as JSON that can be inside an element, because nothing in it ends the element.
fn embedded(document: &Document) -> Result<String> {
    let mut value = json::value(document);
    // Texts that are longer than any name are shortened as in tables.
    shorten_texts(&mut value);
    json_for_element(&value)
}

/// JSON that can be inside an element, with its texts unchanged.
pub(super) fn json_for_element(value: &Value) -> Result<String> {
    let text = serde_json::to_string(value)?;
    // These characters occur only in texts, where JSON can write them as numbers.
    let escapes = [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026")];
    let text = escapes.into_iter().fold(text, |text, (character, escape)| text.replace(character, escape));
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            let mut units = [0; 2];
            shown.extend(character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(character);
        }
    }
    Ok(shown)
}

fn shorten_texts(value: &mut Value) {
    match value {
        Value::String(text) => {
            if text.chars().nth(LONGEST_TEXT).is_some() {
                *text = shortened(text, LONGEST_TEXT);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten_texts),
        Value::Object(values) => values.values_mut().for_each(shorten_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn figure(figure: &Figure) -> FigureView {
    let share = match (&figure.value, figure.unit) {
        (Cell::Float(pct), ColumnUnit::Percent) => Some(format!("{:.1}", pct.clamp(0.0, 100.0))),
        _ => None,
    };
    FigureView {
        id: figure.id.clone(),
        label: figure.label.clone(),
        doc: figure.doc.clone(),
        value: grouped(&figure.shown()),
        raw: figure.value.plain(),
        status: figure.status,
        share,
    }
}

/// The figures that divide the total time, in the order of the charts.
fn parts(document: &Document) -> Vec<PartView> {
    let roles = [
        ("compute_pct", "compute"),
        ("exposed_comm_pct", "communication"),
        ("exposed_copy_pct", "copy"),
        ("idle_pct", "idle"),
    ];
    let part = |(id, role)| {
        let figure = document.figures.iter().find(|figure| figure.id == id)?;
        let Cell::Float(pct) = figure.value else { return None };
        let share = format!("{:.2}", pct.clamp(0.0, 100.0));
        Some(PartView { role, label: figure.label.clone(), value: figure.shown(), share })
    };
    roles.into_iter().filter_map(part).collect()
}

//! Writes a document as a page.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, UndefinedBehavior, escape_formatter};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::appendix_view::AppendixView;
use super::finding_view::{Badge, FindingView, NoteView, Piece, badges, text};
use super::section_view::SectionView;
use super::table_view::grouped;
use crate::engine::ColumnUnit;
use crate::export::cell::Cell;
use crate::report::charts::style_sheet;
use crate::report::document::{Document, Figure, Status};
use crate::report::json;
use crate::trace::visible::{is_hidden, visible};

const TEMPLATES: [(&str, &str); 7] = [
    ("page.html", include_str!("../../../templates/report/page.html")),
    ("parts.html", include_str!("../../../templates/report/parts.html")),
    ("icons.html", include_str!("../../../templates/report/icons.html")),
    ("overview.html", include_str!("../../../templates/report/overview.html")),
    ("findings.html", include_str!("../../../templates/report/findings.html")),
    ("sections.html", include_str!("../../../templates/report/sections.html")),
    ("appendix.html", include_str!("../../../templates/report/appendix.html")),
];

/// In the order of the cascade; the rules of charts come before those that change them on paper.
const STYLES: [&str; 5] = [
    include_str!("../../../templates/report/base.css"),
    include_str!("../../../templates/report/layout.css"),
    include_str!("../../../templates/report/tables.css"),
    include_str!("../../../templates/report/findings.css"),
    include_str!("../../../templates/report/print.css"),
];

/// What must be done before anything is seen.
const EARLY_SCRIPT: &str = include_str!("../../../templates/report/theme.js");

const SCRIPTS: [&str; 6] = [
    include_str!("../../../templates/report/copy.js"),
    include_str!("../../../templates/report/tables.js"),
    include_str!("../../../templates/report/findings.js"),
    include_str!("../../../templates/report/tooltips.js"),
    include_str!("../../../templates/report/navigation.js"),
    include_str!("../../../templates/report/print.js"),
];

/// What the templates are given.
#[derive(Serialize)]
struct Page {
    title: String,
    summary: Vec<Piece>,
    notes: Vec<NoteView>,
    badges: Vec<Badge>,
    facts: Vec<FigureView>,
    cards: Vec<FigureView>,
    parts: Vec<PartView>,
    gpus: String,
    findings: Vec<FindingView>,
    sections: Vec<SectionView>,
    appendix: AppendixView,
    policy: String,
    style: String,
    early_script: &'static str,
    script: String,
    json: String,
}

#[derive(Serialize)]
struct FigureView {
    id: String,
    label: String,
    doc: String,
    value: String,
    raw: String,
    status: &'static str,
    share: Option<String>,
}

/// A part of the whole time.
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
    let environment = environment()?;
    let template = environment.get_template("page.html").context("internal: the page has no template")?;
    template.render_captured_to(Serde(&page), &mut *out).context("cannot write the page")?;
    Ok(())
}

fn environment() -> Result<Environment<'static>> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.context("internal: the syntax of templates is wrong")?);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(|out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => escape_formatter(out, state, &Value::from(visible(text).as_ref())),
        None => escape_formatter(out, state, value),
    });
    environment.add_filter("plural", |count: u64, word: String| match count {
        1 => format!("1 {word}"),
        _ => format!("{} {word}s", grouped(&count.to_string())),
    });
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).with_context(|| format!("internal: the template {name} is wrong"))?;
    }
    Ok(environment)
}

fn page(document: &Document) -> Result<Page> {
    let sections = document.sections.iter().map(SectionView::of).collect::<Result<Vec<SectionView>>>()?;
    let [base, rest @ ..] = STYLES;
    let style = [base, style_sheet()].into_iter().chain(rest).collect::<String>();
    let script = SCRIPTS.concat();
    let (facts, cards): (Vec<&Figure>, Vec<&Figure>) =
        document.figures.iter().partition(|figure| figure.unit == ColumnUnit::Count);
    let gpus: BTreeSet<&str> =
        document.provenance.inputs.iter().flat_map(|input| &input.gpus).map(String::as_str).collect();
    Ok(Page {
        title: document.title.clone(),
        summary: text(&document.summary),
        notes: document.notes.iter().map(NoteView::of).collect(),
        badges: badges(&document.findings),
        // The badges tell how many findings there are.
        facts: facts.into_iter().filter(|figure| !figure.id.ends_with("_findings")).map(figure).collect(),
        cards: cards.into_iter().map(figure).collect(),
        parts: parts(document),
        gpus: gpus.into_iter().collect::<Vec<&str>>().join(", "),
        findings: document
            .findings
            .iter()
            .enumerate()
            .map(|(place, finding)| FindingView::of(place + 1, finding))
            .collect(),
        appendix: AppendixView::of(document, &sections),
        sections,
        policy: policy(&[EARLY_SCRIPT, &script]),
        style,
        early_script: EARLY_SCRIPT,
        script,
        json: embedded(document)?,
    })
}

/// What a browser may do with the page: run these scripts and none else, load nothing.
fn policy(scripts: &[&str]) -> String {
    let hash = |script: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())));
    let hashes = scripts.iter().map(hash).collect::<Vec<String>>().join(" ");
    format!(
        "default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    )
}

/// The whole document as JSON that can stand in an element: nothing in it ends the element.
fn embedded(document: &Document) -> Result<String> {
    let text = serde_json::to_string(&json::value(document))?;
    // These characters are found within texts alone, where JSON knows them by their numbers.
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
        status: match figure.status {
            Status::Neutral => "neutral",
            Status::Good => "good",
            Status::Warning => "warning",
            Status::Critical => "critical",
        },
        share,
    }
}

/// The figures that divide the whole time, in the order of the charts.
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

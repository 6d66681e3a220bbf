//! Findings, prepared for the templates.

use serde::Serialize;

use super::anchors::anchor;
use super::table_view::{TableView, capped};
use super::timeline_view::in_address;
use crate::document::Note;
use wavesieve_engine::findings::{Finding, Priority, ShownCommands, pieces};
use wavesieve_model::analysis::kernel_names::ReadableNames;

#[derive(Serialize)]
pub(crate) struct FindingView {
    id: String,
    number: usize,
    name: String,
    priority: Priority,
    category: String,
    title: Vec<Piece>,
    explanation: Vec<Piece>,
    confidence: String,
    subject: Option<String>,
    saving: Option<SavingView>,
    advice: Vec<Vec<Piece>>,
    evidence: Vec<TableView>,
    commands: Vec<CommandView>,
    /// Sentences about commands that other findings have.
    repeated: Vec<Vec<Piece>>,
    is_open: bool,
    /// Its place on the time line in the address, if it has one.
    place: Option<String>,
}

/// A part of a text.
#[derive(Serialize)]
pub struct Piece {
    is_code: bool,
    text: String,
}

/// A note.
#[derive(Serialize)]
pub(crate) struct NoteView {
    is_warning: bool,
    text: Vec<Piece>,
}

impl NoteView {
    pub fn new(note: &Note) -> Self {
        Self { is_warning: note.is_warning, text: text(&note.text) }
    }
}

#[derive(Serialize)]
struct SavingView {
    /// The time and its unit.
    wall: String,
    /// The same with its share.
    text: String,
}

#[derive(Serialize)]
struct CommandView {
    tool: String,
    description: Vec<Piece>,
    line: String,
}

/// Number of findings of a priority.
#[derive(Serialize)]
pub(crate) struct Badge {
    pub priority: Priority,
    pub count: usize,
}

/// Splits a text into pieces.
pub fn text(text: &str) -> Vec<Piece> {
    pieces(text).map(|(is_code, text)| Piece { is_code, text: text.to_owned() }).collect()
}

impl FindingView {
    /// The tables that show it.
    pub fn evidence(&self) -> &[TableView] {
        &self.evidence
    }

    /// A finding and its number, counted from 1. `has_place` is whether it shows on the time line.
    pub fn new(
        number: usize,
        finding: &Finding,
        shown: &ShownCommands<'_>,
        names: &ReadableNames,
        has_place: bool,
    ) -> Self {
        let id = anchor("finding", &finding.id);
        let evidence = finding.evidence.iter().enumerate();
        let evidence =
            evidence.map(|(place, rows)| TableView::of_evidence(rows, format!("{id}/evidence-{}", place + 1), names));
        let commands = shown.own.iter().map(|command| CommandView {
            tool: command.tool.clone(),
            description: text(&command.description),
            line: command.line(),
        });
        Self {
            number,
            name: finding.id.clone(),
            priority: finding.priority,
            category: finding.category.clone(),
            title: text(&finding.title),
            explanation: text(&finding.explanation),
            confidence: format!("{:.0}%", finding.confidence * 100.0),
            subject: finding.subject.clone().map(capped),
            saving: finding.saving.map(|saving| SavingView { wall: saving.wall.text(), text: saving.text() }),
            advice: finding.advice.iter().map(|advice| text(advice)).collect(),
            evidence: evidence.collect(),
            commands: commands.collect(),
            repeated: shown.repeated.iter().map(|sentence| text(sentence)).collect(),
            is_open: finding.priority == Priority::High,
            place: has_place.then(|| format!("f={}", in_address(&finding.id))),
            id,
        }
    }
}

/// The number of findings of each priority that has any.
pub(crate) fn badges(findings: &[Finding]) -> Vec<Badge> {
    let count = |priority: Priority| findings.iter().filter(|finding| finding.priority == priority).count();
    let badges = Priority::ALL.map(|priority| Badge { priority, count: count(priority) });
    badges.into_iter().filter(|badge| badge.count > 0).collect()
}

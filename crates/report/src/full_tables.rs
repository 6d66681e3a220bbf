//! The tables of a document with all their rows, for formats that other programs read.

use anyhow::{Context as _, Result};
use polars::prelude::{DataFrame, df};

use super::analysis::Analysis;
use super::document::{Document, Section, Table};
use wavesieve_engine::findings::{Finding, QueryRequest, Saving};
use wavesieve_engine::{ColumnUnit, OutputColumn};

/// A table with all its rows and columns.
#[derive(Clone, Debug)]
pub struct FullTable {
    /// Id of the section that shows it; empty if none does.
    pub section: String,
    /// Stable id, unique in its section.
    pub name: String,
    /// Heading.
    pub title: String,
    /// One or two sentences.
    pub about: String,
    /// The command line that prints it; `None` if it is not the result of a query.
    pub command: Option<String>,
    /// Its columns, in order.
    pub columns: Vec<OutputColumn>,
    /// The rows.
    pub frame: DataFrame,
    /// Number of all rows, of which fewer may have been requested.
    pub total_rows: usize,
    /// Whether values and headings stay unchanged, because they are those of another program.
    pub is_exact: bool,
}

impl FullTable {
    /// A table that is in no section and is not the result of a query.
    pub(crate) fn new(name: &str, title: &str, about: &str, columns: Vec<OutputColumn>, frame: DataFrame) -> Self {
        Self {
            section: String::new(),
            name: name.to_owned(),
            title: title.to_owned(),
            about: about.to_owned(),
            command: None,
            columns,
            total_rows: frame.height(),
            frame,
            is_exact: false,
        }
    }
}

/// Queries whose answers are only tables of workbooks and folders, with the sections that they belong to. Documents for
/// readers draw them.
const DRAWN_ELSEWHERE: [(&str, &str); 1] = [("iterations", "iterations")];

/// The queries that only workbooks and folders show.
pub fn questions() -> Vec<QueryRequest> {
    DRAWN_ELSEWHERE.iter().map(|(_, query)| QueryRequest::new(query)).collect()
}

/// The tables of the sections in order: all columns, and at most this many rows of the answers, 0 for all.
pub(crate) fn full_tables(analysis: &Analysis, most_rows: usize) -> Vec<FullTable> {
    let mut tables = Vec::new();
    for section in &analysis.document.sections {
        tables.extend(section.tables().map(|table| full_table(analysis, &section.id, table, most_rows)));
        let drawn = DRAWN_ELSEWHERE.iter().filter(|(of, _)| *of == section.id);
        tables.extend(drawn.filter_map(|(_, query)| drawn_table(analysis, section, query, most_rows)));
    }
    tables
}

/// The table of an answer that no document shows as one.
fn drawn_table(analysis: &Analysis, section: &Section, query: &str, most_rows: usize) -> Option<FullTable> {
    let question = QueryRequest::new(query);
    let answer = analysis.answers.get(&question)?;
    let frame = if most_rows > 0 { answer.frame.head(Some(most_rows)) } else { answer.frame.clone() };
    Some(FullTable {
        section: section.id.clone(),
        command: Some(analysis.collected.inputs.command_line(&question)),
        total_rows: answer.frame.height(),
        ..FullTable::new(query, &section.title, &section.about, answer.columns.clone(), frame)
    })
}

fn full_table(analysis: &Analysis, section: &str, shown: &Table, most_rows: usize) -> FullTable {
    let answer = shown.question.as_ref().and_then(|question| analysis.answers.get(question));
    let (frame, columns) = answer.map_or((&shown.frame, &shown.columns), |answer| (&answer.frame, &answer.columns));
    FullTable {
        section: section.to_owned(),
        name: shown.id.clone(),
        title: shown.title.clone(),
        about: shown.about.clone(),
        command: shown.command.clone(),
        columns: columns.clone(),
        frame: if most_rows > 0 { frame.head(Some(most_rows)) } else { frame.clone() },
        total_rows: frame.height(),
        is_exact: false,
    }
}

/// The findings as a table: one row each, with lists as lines of a text.
pub(crate) fn findings_table(document: &Document) -> Result<FullTable> {
    let findings = &document.findings;
    let texts = |of: &dyn Fn(&Finding) -> String| -> Vec<String> { findings.iter().map(of).collect() };
    let lines = |finding: &Finding| {
        let commands = finding.commands.iter().map(|command| format!("{}: {}", command.description, command.line()));
        commands.collect::<Vec<String>>().join("\n")
    };
    let subjects: Vec<Option<&str>> = findings.iter().map(|finding| finding.subject.as_deref()).collect();
    let confidence_pct: Vec<f64> = findings.iter().map(|finding| (finding.confidence * 1e4).round() / 100.0).collect();
    let savings = || findings.iter().map(|finding| finding.saving.as_ref());
    let of_savings =
        |of: &dyn Fn(&Saving) -> i64| -> Vec<Option<i64>> { savings().map(|saving| saving.map(of)).collect() };
    let pct_of_span: Vec<Option<f64>> = savings().map(|saving| saving.map(|saving| saving.pct_of_span)).collect();
    let handoffs: Vec<Option<String>> =
        findings.iter().map(|finding| Some(finding.handoff.as_ref()?.lines())).collect();
    let frame = df!(
        "priority" => texts(&|finding| finding.priority.word().to_owned()),
        "id" => texts(&|finding| finding.id.clone()),
        "category" => texts(&|finding| finding.category.clone()),
        "confidence_pct" => confidence_pct,
        "title" => texts(&|finding| finding.title.clone()),
        "saving_at_most_ns" => of_savings(&|saving| saving.wall.wall_ns),
        "saving_unit_ns" => of_savings(&|saving| saving.wall.unit_ns),
        "saving_at_most_pct" => pct_of_span,
        "saving_gpu_time_ns" => of_savings(&|saving| saving.gpu_time_ns),
        "subject" => subjects,
        "explanation" => texts(&|finding| finding.explanation.clone()),
        "advice" => texts(&|finding| finding.advice.join("\n")),
        "commands" => texts(&lines),
        "handoff" => handoffs,
    )
    .context("internal: the columns of findings differ in length")?;
    let columns = vec![
        OutputColumn::new("priority", ColumnUnit::Text, "how much it matters: high, medium, low or info"),
        OutputColumn::new(
            "id",
            ColumnUnit::Text,
            "stable id: the rule, and what it is about where there can be several",
        ),
        OutputColumn::new("category", ColumnUnit::Text, "what it is about, in the words of the field"),
        OutputColumn::new("confidence_pct", ColumnUnit::Percent, "how sure it is"),
        OutputColumn::new("title", ColumnUnit::Text, "one sentence with the numbers"),
        OutputColumn::new(
            "saving_at_most_ns",
            ColumnUnit::Nanoseconds,
            "wall-clock time of a GPU that removing it could save at most in a unit; savings do not add up",
        ),
        OutputColumn::new(
            "saving_unit_ns",
            ColumnUnit::Nanoseconds,
            "how long the unit takes: an iteration if all ranks have as many, otherwise the part of the run",
        ),
        OutputColumn::new("saving_at_most_pct", ColumnUnit::Percent, "its share of the span of a GPU"),
        OutputColumn::new(
            "saving_gpu_time_ns",
            ColumnUnit::Nanoseconds,
            "the saving as GPU time, added up over the GPUs and iterations",
        ),
        OutputColumn::new(
            "subject",
            ColumnUnit::Name,
            "kernel, range, rank or whatever it is about; empty for the whole trace",
        ),
        OutputColumn::new("explanation", ColumnUnit::Text, "what it means"),
        OutputColumn::new("advice", ColumnUnit::Text, "what to do, a line each, the first helps most"),
        OutputColumn::new("commands", ColumnUnit::Text, "how to find out more, a line each"),
        OutputColumn::new(
            "handoff",
            ColumnUnit::Text,
            "commands for a typical dispatch of the kernel that it is about, a line each; empty without a kernel",
        ),
    ];
    Ok(FullTable::new("findings", "Findings", "What was found, the most important first.", columns, frame))
}

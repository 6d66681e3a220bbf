//! Writes a document as text.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use anyhow::Result;

use crate::document::{Block, Document, Figure, Note, Section, Status, Table, clipped, first_clause};
use wavesieve_engine::ColumnUnit;
use wavesieve_engine::findings::{Evidence, Finding, ShownCommands, counted, shown_commands};
use wavesieve_export::cell::Cell;
use wavesieve_export::terminal;
use wavesieve_export::unit::{TimeUnit, displays};
use wavesieve_model::text::hidden::escape_hidden;

/// Width of the bar behind a share.
const BAR: usize = 30;
/// Maximum number of lines between the summary and the first finding.
const OPENING_LINES: usize = 3;
/// Minimum width of a text.
const NARROWEST: usize = 40;

/// Size and style.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether colors are used.
    pub color: bool,
    pub unit: TimeUnit,
}

/// Writes the document: what matters on the first screen, then what supports it.
///
/// # Errors
/// When writing fails.
pub fn write(document: &Document, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    let style = TextStyle { width: style.width.max(NARROWEST), ..style };
    let document = document.readable();
    heading(&document.title, '=', style, out)?;
    paragraph(&document.summary, "", style, out)?;
    write_opening(&document, style, out)?;
    let (before, after) = document.around_findings();
    for section in before {
        writeln!(out)?;
        write_section(section, style, out)?;
    }
    if !document.findings.is_empty() {
        writeln!(out)?;
        heading(&format!("Findings: {}", document.counted_findings()), '-', style, out)?;
        for (number, finding) in document.findings.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            write_finding(number + 1, finding, style, out)?;
        }
        writeln!(out)?;
        heading("Evidence", '-', style, out)?;
        for (number, finding) in document.findings.iter().enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            write_support(number + 1, finding, &shown_commands(&document.findings, number), style, out)?;
        }
    }
    write_figures(&document, style, out)?;
    for section in after {
        writeln!(out)?;
        write_section(section, style, out)?;
    }
    writeln!(out)?;
    write_provenance(&document, style, out)
}

/// Writes the lines before the first finding. If they take too many, they lose what the rest of the document repeats: the
/// units of work, then all clauses of warnings but the first, at last words.
fn write_opening(document: &Document, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    let (views, notes) = document.opening();
    let mut lines: Vec<String> = views.into_iter().chain(notes.iter().map(noted)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let fits = |lines: &[String]| {
        let heights = lines.iter().map(|line| wrapped(&escape_hidden(line), style.width).len());
        document.findings.is_empty() || heights.sum::<usize>() <= OPENING_LINES
    };
    let view = || document.views.short_without_units().map(|line| format!("{line}.")).into_iter();
    if !fits(&lines) {
        lines = view().chain(notes.iter().map(noted)).collect();
    }
    if !fits(&lines) {
        lines = view().chain(notes.iter().map(|note| first_clause(&noted(note)))).collect();
    }
    if !fits(&lines) {
        lines = lines.iter().map(|line| clipped(line, style.width)).collect();
    }
    for line in lines {
        paragraph(&line, "", style, out)?;
    }
    Ok(())
}

/// Writes the figures, and the views of the run.
fn write_figures(document: &Document, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    let views = document.details().0;
    if document.figures.is_empty() && views.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    heading("Figures", '-', style, out)?;
    for view in views {
        paragraph(&view, "", style, out)?;
    }
    let label = document.figures.iter().map(|figure| figure.label.chars().count()).max().unwrap_or(0);
    for figure in &document.figures {
        write_figure(figure, label, style, out)?;
    }
    Ok(())
}

fn heading(title: &str, rule: char, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    let bold = if style.color { Style::new().bold() } else { Style::new() };
    writeln!(out, "{bold}{title}{bold:#}")?;
    writeln!(out, "{}", rule.to_string().repeat(style.width))?;
    Ok(())
}

fn noted(note: &Note) -> String {
    format!("{}: {}", if note.is_warning { "warning" } else { "note" }, note.text)
}

fn write_figure(figure: &Figure, label: usize, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    let value = figure.shown();
    let paint = if style.color { color_of(figure.status) } else { Style::new() };
    let bar = match (&figure.value, figure.unit) {
        (Cell::Float(pct), ColumnUnit::Percent) => format!("  {}", bar(*pct)),
        _ => String::new(),
    };
    writeln!(out, "{:label$}  {paint}{value:>10}{paint:#}{bar}", figure.label)?;
    Ok(())
}

/// A bar for a share in percent.
fn bar(pct: f64) -> String {
    let filled = (pct.clamp(0.0, 100.0) / 100.0 * BAR as f64).round() as usize;
    format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled.min(BAR)))
}

fn color_of(status: Status) -> Style {
    match status {
        Status::Neutral => Style::new(),
        Status::Good => AnsiColor::Green.on_default(),
        Status::Warning => AnsiColor::Yellow.on_default(),
        Status::Critical => AnsiColor::Red.on_default(),
    }
}

fn write_finding(number: usize, finding: &Finding, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    let paint = if style.color { color_of(finding.priority.into()).bold() } else { Style::new() };
    let title = format!("{number}. [{}] {}", finding.priority.word().to_uppercase(), finding.title);
    for (place, line) in wrapped(&escape_hidden(&title), style.width.saturating_sub(3)).into_iter().enumerate() {
        writeln!(out, "{}{paint}{line}{paint:#}", if place == 0 { "" } else { "   " })?;
    }
    if let Some(saving) = &finding.saving {
        paragraph(&format!("Potential saving: up to {}.", saving.text()), "   ", style, out)?;
    }
    paragraph(&finding.explanation, "   ", style, out)?;
    for advice in &finding.advice {
        let mut lines = wrapped(&escape_hidden(advice), style.width.saturating_sub(5)).into_iter();
        writeln!(out, "   - {}", lines.next().unwrap_or_default())?;
        for line in lines {
            writeln!(out, "     {line}")?;
        }
    }
    Ok(())
}

/// Writes the rows that show a finding, and the commands to find out more.
fn write_support(
    number: usize,
    finding: &Finding,
    commands: &ShownCommands<'_>,
    style: TextStyle,
    out: &mut dyn Write,
) -> Result<()> {
    let confidence = finding.confidence * 100.0;
    writeln!(
        out,
        "{number}. {} ({}, confidence {confidence:.0}%)",
        escape_hidden(&finding.id),
        escape_hidden(&finding.category)
    )?;
    for evidence in &finding.evidence {
        write_evidence(evidence, style, out)?;
    }
    for sentence in &commands.repeated {
        paragraph(sentence, "   ", style, out)?;
    }
    for command in &commands.own {
        paragraph(&format!("{}:", command.description), "   ", style, out)?;
        // A command is on one line, to be copied.
        writeln!(out, "     $ {}", escape_hidden(&command.line()))?;
    }
    Ok(())
}

fn write_evidence(evidence: &Evidence, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "   {}: `{}`", evidence.title, escape_hidden(&evidence.command))?;
    let display = displays(&evidence.frame, &evidence.columns, style.unit);
    let mut text = Vec::new();
    let width = Some(style.width.saturating_sub(5));
    terminal::write(
        &evidence.frame,
        &display,
        terminal::Style { width, color: false, rows: None, wraps: Some(terminal::LONGEST_SENTENCE) },
        &mut text,
    )?;
    for line in String::from_utf8_lossy(&text).lines() {
        writeln!(out, "{}", format!("     {line}").trim_end())?;
    }
    let others = evidence.rows.saturating_sub(evidence.frame.height());
    if others > 0 {
        writeln!(out, "     … {others} more")?;
    }
    Ok(())
}

fn write_section(section: &Section, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    heading(&section.title, '-', style, out)?;
    paragraph(&section.about, "", style, out)?;
    for block in &section.blocks {
        writeln!(out)?;
        match block {
            Block::Chart(_) => {}
            Block::Table(table) => write_table(table, style, out)?,
            Block::Note(note) if note.command().is_some() => {
                writeln!(out, "  $ {}", escape_hidden(note.command().unwrap_or_default()))?;
            }
            Block::Note(note) => {
                let mark = if note.is_warning { "warning: " } else { "" };
                paragraph(&format!("{mark}{}", note.text), "", style, out)?;
            }
        }
    }
    Ok(())
}

fn write_table(table: &Table, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{}:", table.title)?;
    let display = displays(&table.frame, &table.columns, style.unit);
    let look = terminal::Style {
        width: Some(style.width),
        color: style.color,
        rows: None,
        wraps: Some(terminal::LONGEST_SENTENCE),
    };
    terminal::write(&table.frame, &display, look, out)?;
    let others = table.total_rows.saturating_sub(table.frame.height());
    if others > 0 {
        let command = table.command.as_ref().map(|command| format!(": `{}`", escape_hidden(command)));
        writeln!(out, "… {}{}", counted(others as f64, "more row"), command.unwrap_or_default())?;
    }
    Ok(())
}

fn write_provenance(document: &Document, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    let provenance = &document.provenance;
    heading("Appendix", '-', style, out)?;
    for note in document.details().1 {
        paragraph(&noted(note), "", style, out)?;
    }
    writeln!(out, "wavesieve {}, tier {}", provenance.version, document.tier)?;
    for input in &provenance.inputs {
        let text = format!("rank {}: {} ({})", input.rank, input.path, input.described());
        writeln!(out, "{}", escape_hidden(&text))?;
    }
    for (option, value) in &provenance.filters {
        paragraph(&format!("filter: {option} {value}"), "", style, out)?;
    }
    for (section, reason) in &provenance.left_out {
        paragraph(&format!("left out: {section}: {reason}"), "", style, out)?;
    }
    for (query, reason) in &provenance.failures {
        paragraph(&format!("not answered: {query}: {reason}"), "", style, out)?;
    }
    for damage in &provenance.damage {
        paragraph(&format!("damaged: {damage}"), "", style, out)?;
    }
    Ok(())
}

fn paragraph(text: &str, indent: &str, style: TextStyle, out: &mut dyn Write) -> Result<()> {
    for line in wrapped(&escape_hidden(text), style.width.saturating_sub(indent.len())) {
        writeln!(out, "{indent}{line}")?;
    }
    Ok(())
}

/// A text in lines of at most this many characters, unless a word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

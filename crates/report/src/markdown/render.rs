//! Writes a document as Markdown.

use std::io::Write;

use anyhow::Result;

use super::escape::{code, escaped, fenced, prose};
use crate::document::{Block, Document, Note, Section, Status, Table};
use wavesieve_engine::findings::{Finding, ShownCommands, counted, shown_commands};
use wavesieve_export::markdown;
use wavesieve_export::unit::{TimeUnit, displays};
use wavesieve_model::text::hidden::escape_hidden;

/// Maximum length of a name in a table; the JSON document has the whole name.
const LONGEST_NAME: Option<usize> = Some(300);

/// Writes the document; tables are pipe tables with units in their headings.
///
/// # Errors
/// When writing fails.
pub fn write(document: &Document, unit: TimeUnit, out: &mut dyn Write) -> Result<()> {
    let document = document.readable();
    writeln!(out, "# {}\n\n{}\n", escaped(&document.title), prose(&document.summary))?;
    let (views, notes) = document.opening();
    for view in views {
        writeln!(out, "{}\n", prose(&view))?;
    }
    for note in notes {
        write_note(note, out)?;
    }
    let (before, after) = document.around_findings();
    for section in before {
        write_section(section, unit, out)?;
    }
    if !document.findings.is_empty() {
        if !before.is_empty() {
            writeln!(out)?;
        }
        writeln!(out, "## Findings: {}", document.counted_findings())?;
        for (number, finding) in document.findings.iter().enumerate() {
            write_finding(number + 1, finding, &shown_commands(&document.findings, number), unit, out)?;
        }
    }
    write_figures(&document, out)?;
    for section in after {
        write_section(section, unit, out)?;
    }
    write_provenance(&document, out)
}

/// Writes the figures, and the views of the run.
fn write_figures(document: &Document, out: &mut dyn Write) -> Result<()> {
    let views = document.details().0;
    if document.figures.is_empty() && views.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Figures\n")?;
    for view in views {
        writeln!(out, "{}\n", prose(&view))?;
    }
    if document.figures.is_empty() {
        return Ok(());
    }
    writeln!(out, "| figure | value | status |\n| --- | ---: | --- |")?;
    for figure in &document.figures {
        let status = match figure.status {
            Status::Neutral => "",
            Status::Good => "good",
            Status::Warning => "warning",
            Status::Critical => "critical",
        };
        writeln!(out, "| {} | {} | {status} |", escaped(&figure.label), escaped(&figure.shown()))?;
    }
    Ok(())
}

fn write_note(note: &Note, out: &mut dyn Write) -> Result<()> {
    let mark = if note.is_warning { "Warning" } else { "Note" };
    writeln!(out, "> **{mark}:** {}\n", prose(&note.text))?;
    Ok(())
}

fn write_finding(
    number: usize,
    finding: &Finding,
    commands: &ShownCommands<'_>,
    unit: TimeUnit,
    out: &mut dyn Write,
) -> Result<()> {
    let priority = finding.priority.word().to_uppercase();
    writeln!(out, "\n### {number}. {priority}: {}\n", prose(&finding.title))?;
    let confidence = finding.confidence * 100.0;
    writeln!(out, "{} · {} · confidence {confidence:.0}%\n", escaped(&finding.category), code(&finding.id))?;
    if let Some(saving) = &finding.saving {
        writeln!(out, "**Potential saving: up to {}.**\n", saving.text())?;
    }
    writeln!(out, "{}", prose(&finding.explanation))?;
    if !finding.advice.is_empty() {
        writeln!(out)?;
    }
    for advice in &finding.advice {
        writeln!(out, "- {}", prose(advice))?;
    }
    for evidence in &finding.evidence {
        writeln!(out, "\n{}: {}\n", escaped(&evidence.title), code(&evidence.command))?;
        markdown::write(&evidence.frame, &displays(&evidence.frame, &evidence.columns, unit), LONGEST_NAME, out)?;
        let others = evidence.rows.saturating_sub(evidence.frame.height());
        if others > 0 {
            writeln!(out, "\n… {others} more")?;
        }
    }
    for sentence in &commands.repeated {
        writeln!(out, "\n{}", prose(sentence))?;
    }
    for command in &commands.own {
        writeln!(out, "\n{}:\n\n{}", escaped(&command.description), fenced(&escape_hidden(&command.line()), "sh"))?;
    }
    Ok(())
}

fn write_section(section: &Section, unit: TimeUnit, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "\n## {}\n\n{}", escaped(&section.title), escaped(&section.about))?;
    for block in &section.blocks {
        match block {
            Block::Chart(_) => {}
            Block::Table(table) => write_table(table, unit, out)?,
            Block::Note(note) if note.command().is_some() => {
                writeln!(out, "\n{}", fenced(&escape_hidden(note.command().unwrap_or_default()), "sh"))?;
            }
            Block::Note(note) => {
                let mark = if note.is_warning { "**Warning:** " } else { "" };
                writeln!(out, "\n{mark}{}", escaped(&note.text))?;
            }
        }
    }
    Ok(())
}

fn write_table(table: &Table, unit: TimeUnit, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "\n### {}\n", escaped(&table.title))?;
    markdown::write(&table.frame, &displays(&table.frame, &table.columns, unit), LONGEST_NAME, out)?;
    let others = table.total_rows.saturating_sub(table.frame.height());
    if others > 0 {
        let command = table.command.as_ref().map(|command| format!(": {}", code(command)));
        writeln!(out, "\n… {}{}", counted(others as f64, "more row"), command.unwrap_or_default())?;
    }
    Ok(())
}

fn write_provenance(document: &Document, out: &mut dyn Write) -> Result<()> {
    let provenance = &document.provenance;
    writeln!(out, "\n## Appendix\n")?;
    for note in document.details().1 {
        write_note(note, out)?;
    }
    writeln!(out, "wavesieve {}, tier {}\n", provenance.version, document.tier)?;
    for input in &provenance.inputs {
        writeln!(out, "- rank {}: {} ({})", input.rank, code(&input.path), escaped(&input.described()))?;
    }
    for (option, value) in &provenance.filters {
        writeln!(out, "- filter: {}", code(&format!("{option} {value}")))?;
    }
    for (section, reason) in &provenance.left_out {
        writeln!(out, "- left out: {}: {}", escaped(section), escaped(reason))?;
    }
    for (query, reason) in &provenance.failures {
        writeln!(out, "- not answered: {}: {}", code(query), escaped(reason))?;
    }
    for damage in &provenance.damage {
        writeln!(out, "- damaged: {}", escaped(damage))?;
    }
    Ok(())
}

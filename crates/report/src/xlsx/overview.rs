//! The first sheet: a summary of the document, and the content of the other sheets.

use anyhow::{Context as _, Result};
use polars::prelude::{Column, DataFrame};
use rust_xlsxwriter::{Format, Url, Worksheet};
use serde::Deserialize;

use super::appearance;
use super::charts::SHEET;
use super::text::cell_text;
use crate::document::{Document, Figure, SECTIONS_IN_WORDS};
use crate::full_tables::FullTable;
use wavesieve_engine::findings::Finding;
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_export::unit::{TimeUnit, displays};

const TEXTS: &str = data!("share/report/workbook.toml");
/// Maximum number of findings that are repeated on the first sheet.
const MAX_FINDINGS: usize = 5;
/// Widths of the columns, in characters.
const WIDTHS: [f64; 5] = [32.0, 16.0, 16.0, 48.0, 80.0];

/// Fixed texts of the sheet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    reading: Vec<String>,
}

/// Writes from the top to the bottom.
struct Writer<'a> {
    sheet: &'a mut Worksheet,
    row: u32,
}

/// Writes the sheet; `sheets` has the other sheets with their names, in order, after a sheet of `charts` native charts.
pub(crate) fn write_overview(
    document: &Document,
    sheets: &[(String, &FullTable)],
    charts: usize,
    unit: TimeUnit,
    sheet: &mut Worksheet,
) -> Result<()> {
    let texts: Texts = toml::from_str(TEXTS).context("internal: the texts of workbooks are wrong")?;
    for (place, width) in (0..).zip(WIDTHS) {
        sheet.set_column_width(place, width)?;
    }
    sheet.set_freeze_panes(1, 0)?;
    let mut writer = Writer { sheet, row: 0 };
    writer.line(&document.title, &appearance::title(16.0))?;
    writer.line(&document.summary, &Format::new().set_bold())?;
    let (views, notes) = document.opening();
    for line in views.iter().chain(notes.iter().map(|note| &note.text)) {
        writer.line(line, &Format::new())?;
    }
    if !document.findings.is_empty() {
        writer.part("First findings", &["finding", "could save at most", "unit", "in words"])?;
    }
    for finding in document.findings.iter().take(MAX_FINDINGS) {
        writer.figure(&headline(finding), unit)?;
    }
    writer.part("Key facts", &["what", "value", "unit", "meaning"])?;
    for figure in &document.figures {
        writer.figure(figure, unit)?;
    }
    let (views, notes) = document.details();
    for line in &views {
        writer.line(line, &Format::new())?;
    }
    for section in document.sections.iter().filter(|section| SECTIONS_IN_WORDS.contains(&section.id.as_str())) {
        writer.part(&section.title, &[])?;
        writer.line(&section.about, &Format::new())?;
        for note in section.notes() {
            writer.line(&note.text, &Format::new())?;
        }
    }
    writer.part("Run", &["what", "value"])?;
    let provenance = &document.provenance;
    let joined = |of: &dyn Fn(&crate::document::Input) -> Vec<String>| {
        let all: std::collections::BTreeSet<String> = provenance.inputs.iter().flat_map(of).collect();
        all.into_iter().collect::<Vec<String>>().join(", ")
    };
    for (what, value) in [
        ("Program", format!("wavesieve {}", provenance.version)),
        ("Processes", provenance.processes.to_string()),
        ("Machines", joined(&|input| input.hostname.iter().cloned().collect())),
        ("GPUs", joined(&|input| input.gpus.clone())),
        ("Formats", joined(&|input| vec![input.format.clone()])),
        ("Damaged inputs", provenance.damage.len().to_string()),
    ] {
        writer.texts(&[what, &value])?;
    }
    for note in notes {
        writer.line(&note.text, &Format::new())?;
    }
    writer.part("How to read it", &[])?;
    for text in &texts.reading {
        writer.line(text, &Format::new())?;
    }
    writer.part("Sheets", &["sheet", "rows", "section", "what it shows", "the same on the command line"])?;
    if charts > 0 {
        writer.link(SHEET, charts)?;
        writer.texts_from(2, &["", "charts of the numbers on the other sheets"])?;
    }
    for (name, table) in sheets {
        writer.listed(name, table)?;
    }
    Ok(())
}

/// A finding as a figure: wall-clock time of a GPU that it could save at most in a unit.
fn headline(finding: &Finding) -> Figure {
    let saving = finding.saving.as_ref().map_or(Cell::Null, |saving| Cell::Integer(saving.wall.wall_ns));
    Figure {
        id: finding.id.clone(),
        label: format!("{}: {}", finding.priority.word(), finding.rule),
        doc: finding.title.clone(),
        value: saving,
        unit: ColumnUnit::Nanoseconds,
        status: finding.priority.into(),
    }
}

impl Writer<'_> {
    fn line(&mut self, text: &str, format: &Format) -> Result<()> {
        self.sheet.write_string_with_format(self.row, 0, cell_text(text), format)?;
        self.row += 1;
        Ok(())
    }

    /// Writes the heading of a part, and the headings of its columns.
    fn part(&mut self, title: &str, headings: &[&str]) -> Result<()> {
        self.row += 1;
        self.line(title, &appearance::title(13.0))?;
        if !headings.is_empty() {
            for (place, heading) in (0..).zip(headings) {
                self.sheet.write_string_with_format(self.row, place, *heading, &appearance::heading())?;
            }
            self.row += 1;
        }
        Ok(())
    }

    fn texts(&mut self, texts: &[&str]) -> Result<()> {
        self.texts_from(0, texts)
    }

    /// Writes texts from a column on, and ends the line.
    fn texts_from(&mut self, first: u16, texts: &[&str]) -> Result<()> {
        for (place, text) in (first..).zip(texts) {
            self.sheet.write_string(self.row, place, cell_text(text))?;
        }
        self.row += 1;
        Ok(())
    }

    fn figure(&mut self, figure: &Figure, unit: TimeUnit) -> Result<()> {
        let declared = OutputColumn::new("", figure.unit, "");
        let values = match &figure.value {
            Cell::Integer(value) => Column::new("".into(), [*value]),
            Cell::Float(value) => Column::new("".into(), [*value]),
            other => return self.texts(&[&figure.label, &other.plain(), "", &figure.doc]),
        };
        let frame = DataFrame::new_infer_height(vec![values])?;
        let display = displays(&frame, &[declared], unit).pop().context("internal: a figure has no unit")?;
        let number = match &figure.value {
            Cell::Integer(value) => *value as f64,
            Cell::Float(value) => *value,
            _ => f64::NAN,
        };
        let format = Format::new().set_num_format(appearance::number_format(figure.unit, display.decimals(), false));
        let format = appearance::tinted(format, figure.status);
        let unit = display.header("");
        let unit = if figure.unit == ColumnUnit::Percent { "%" } else { unit.trim() };
        self.sheet.write_string(self.row, 0, cell_text(&figure.label))?;
        if number.is_finite() {
            self.sheet.write_number_with_format(self.row, 1, number / display.divisor(), &format)?;
        }
        self.sheet.write_string(self.row, 2, unit)?;
        self.sheet.write_string(self.row, 3, cell_text(&figure.doc))?;
        self.row += 1;
        Ok(())
    }

    /// Begins a line for a sheet, with a link to it and the number of its rows.
    fn link(&mut self, name: &str, rows: usize) -> Result<()> {
        let link = Url::new(format!("internal:'{name}'!A1")).set_text(name);
        self.sheet.write_url(self.row, 0, link)?;
        let whole = Format::new().set_num_format("#,##0");
        self.sheet.write_number_with_format(self.row, 1, rows as f64, &whole)?;
        Ok(())
    }

    /// Writes a line for a sheet, with a link to it.
    fn listed(&mut self, name: &str, table: &FullTable) -> Result<()> {
        self.link(name, table.total_rows)?;
        self.sheet.write_string(self.row, 2, &table.section)?;
        let shows = if table.is_exact { &table.about } else { &table.title };
        self.sheet.write_string(self.row, 3, cell_text(shows))?;
        if let Some(command) = &table.command {
            self.sheet.write_string(self.row, 4, cell_text(command))?;
        }
        self.row += 1;
        Ok(())
    }
}

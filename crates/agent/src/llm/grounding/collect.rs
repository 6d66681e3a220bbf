//! Collects the numbers of a document: from figures, views, findings, tables, sentences and GPUs.

use std::collections::BTreeSet;

use polars::prelude::DataFrame;

use super::clauses::Share;
use super::facts::{Fact, Facts, stems};
use super::ids::add_ids;
use super::numbers::numbers;
use super::table::{UnitKind, words};
use crate::llm::payload::{SHORTENED_TO, base_name};
use wavesieve_engine::findings::{Finding, shortened};
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_model::analysis::hardware::devices::Catalog;
use wavesieve_report::document::{Block, Document, Table};

/// The section with results of calls, in a document without an analysis.
pub(crate) const RESULTS_SECTION: &str = "results";
/// The table with the rows of a statement. The writer of the statement chooses the column names.
const STATEMENT_TABLE: &str = "sql";
/// Minimum length of a name that identifies a row in a sentence.
const SHORTEST_NAME: usize = 5;

/// Units by the last part of a column name, for columns without a unit.
const UNITS_OF_NAMES: [(&str, UnitKind, f64); 6] = [
    ("mhz", UnitKind::Clock, 1e6),
    ("ghz", UnitKind::Clock, 1e9),
    ("gflops", UnitKind::Flops, 1e9),
    ("tflops", UnitKind::Flops, 1e12),
    ("gbps", UnitKind::Rate, 1.0),
    ("bytes", UnitKind::Bytes, 1.0),
];

/// The origin of a number: its name, whether it is an id, and its row.
#[derive(Clone, Copy, Debug)]
struct NumberPlace<'a> {
    name: &'a str,
    row: Option<usize>,
}

impl Facts {
    /// Collects the numbers of figures, views, findings, tables and sentences.
    pub fn of_document(document: &Document) -> Self {
        let is_of_results = document.sections.iter().any(|section| section.id == RESULTS_SECTION);
        let mut facts = Self { is_of_results, ..Self::default() };
        for figure in &document.figures {
            facts.shares.extend(Share::of_figure(figure, stems(&figure.id)));
            facts.add(&figure.value, figure.unit, NumberPlace { name: &figure.id, row: None });
        }
        for view in document.views.all() {
            facts.add_text(&view.line(), None);
            facts.add_number(UnitKind::Time, view.span_ns as f64, "span_ns", None);
            for (id, pct) in &view.shares {
                facts.add_number(UnitKind::Percent, *pct, id, None);
            }
        }
        document.findings.iter().for_each(|finding| facts.add_finding(finding));
        for section in &document.sections {
            for block in &section.blocks {
                match block {
                    Block::Table(table) => facts.add_table(table),
                    Block::Note(note) => facts.add_text(&note.text, None),
                    Block::Chart(_) => {}
                }
            }
        }
        document.notes.iter().for_each(|note| facts.add_text(&note.text, None));
        facts.add_text(&document.summary, None);
        let provenance = &document.provenance;
        facts.add_number(UnitKind::Plain, provenance.processes as f64, "processes", None);
        facts.add_number(UnitKind::Plain, document.findings.len() as f64, "findings", None);
        let hosts: BTreeSet<&String> = provenance.inputs.iter().filter_map(|input| input.hostname.as_ref()).collect();
        facts.add_number(UnitKind::Plain, hosts.len() as f64, "nodes", None);
        add_ids(&mut facts, document);
        let gpus: BTreeSet<&String> = provenance.inputs.iter().flat_map(|input| &input.gpus).collect();
        gpus.into_iter().for_each(|gpu| facts.add_gpu(gpu));
        facts
    }

    fn add_finding(&mut self, finding: &Finding) {
        // A title speaks of calls and collectives that its evidence names.
        let named: Vec<String> = finding.evidence.iter().flat_map(|one| texts_of(&one.frame, &one.columns)).collect();
        let named = named.iter().map(String::as_str).filter(|name| finding.title.contains(name));
        let own = [finding.id.as_str(), finding.rule.as_str()].into_iter().chain(finding.subject.as_deref());
        let row = self.new_row(own.chain(named));
        self.add_number(UnitKind::Percent, finding.confidence * 100.0, "confidence", Some(row));
        for text in [&finding.title, &finding.explanation].into_iter().chain(&finding.advice) {
            self.add_text(text, Some(row));
        }
        if let Some(saving) = &finding.saving {
            self.add_number(UnitKind::Time, saving.wall.wall_ns as f64, "wall_ns", Some(row));
            self.add_number(UnitKind::Time, saving.wall.unit_ns as f64, "unit_ns", Some(row));
            self.add_number(UnitKind::Time, saving.gpu_time_ns as f64, "gpu_time_ns", Some(row));
            self.add_number(UnitKind::Percent, saving.pct_of_span, "pct_of_span", Some(row));
            self.add_text(&saving.text(), Some(row));
        }
        for evidence in &finding.evidence {
            let names = [finding.rule.as_str()].into_iter().chain(finding.subject.as_deref());
            let names: Vec<String> = names.map(ToOwned::to_owned).collect();
            self.add_frame(&evidence.frame, &evidence.columns, &names);
            self.add_number(UnitKind::Plain, evidence.rows as f64, "rows", Some(row));
        }
    }

    fn add_table(&mut self, table: &Table) {
        let first = self.all.len();
        self.add_frame(&table.frame, &table.columns, &[]);
        if self.is_of_results && table.id == STATEMENT_TABLE {
            self.all.iter_mut().skip(first).for_each(|fact| fact.is_of_statement = true);
        }
        self.add_number(UnitKind::Plain, table.total_rows as f64, "rows", None);
        // The first column of a complete table names all its subjects.
        let first = table.columns.first().filter(|column| column.unit == ColumnUnit::Name);
        let Some(column) = first.filter(|_| table.frame.height() == table.total_rows) else { return };
        let Ok(values) = table.frame.column(&column.name) else { return };
        if let Ok(different) = values.n_unique() {
            let name = column.name.strip_suffix("_name").unwrap_or(&column.name);
            self.add_number(UnitKind::Plain, different as f64, name, None);
        }
    }

    /// Adds the numbers of a table, each with its row. `names` are further names of the rows.
    fn add_frame(&mut self, frame: &DataFrame, columns: &[OutputColumn], names: &[String]) {
        let texts = columns.iter().filter(|column| matches!(column.unit, ColumnUnit::Name | ColumnUnit::Text));
        let texts: Vec<&OutputColumn> = texts.collect();
        for row in 0..frame.height() {
            let of_row = texts.iter().filter_map(|column| match Cell::new(frame.column(&column.name).ok()?, row) {
                Cell::Text(text) => Some(text),
                _ => None,
            });
            let of_row: Vec<String> = of_row.chain(names.iter().cloned()).collect();
            let own = self.new_row(of_row.iter().map(String::as_str));
            for column in columns {
                if let Ok(values) = frame.column(&column.name) {
                    self.add(&Cell::new(values, row), column.unit, NumberPlace { name: &column.name, row: Some(own) });
                }
            }
        }
    }

    fn new_row<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> usize {
        let row = self.row_count;
        self.row_count += 1;
        for name in names.filter(|name| is_like_name(name)) {
            let shorter = SHORTENED_TO.map(|most| shortened(name, most));
            let forms = shorter.into_iter().chain([name.to_owned(), base_name(name).to_owned()]);
            for name in forms.filter(|name| is_like_name(name)).collect::<BTreeSet<String>>() {
                self.rows.entry(name).or_default().insert(row);
            }
        }
        row
    }

    fn add(&mut self, cell: &Cell, unit: ColumnUnit, place: NumberPlace<'_>) {
        let value = match cell {
            Cell::Integer(value) => *value as f64,
            Cell::Float(value) if value.is_finite() => *value,
            Cell::Text(text) => return self.add_text(text, place.row),
            _ => return,
        };
        let is_id = words().id_columns.contains(place.name);
        // Columns of statements have units only in their names.
        let is_undeclared = self.is_of_results && matches!(unit, ColumnUnit::Text | ColumnUnit::Name);
        let unit = match unit {
            _ if is_id => ColumnUnit::Id,
            _ if is_undeclared => ColumnUnit::of_name(&format!("_{}", place.name)).unwrap_or(ColumnUnit::Number),
            unit => unit,
        };
        let (kind, factor) = match unit {
            ColumnUnit::Nanoseconds => (UnitKind::Time, 1.0),
            ColumnUnit::Microseconds => (UnitKind::Time, 1e3),
            ColumnUnit::Milliseconds => (UnitKind::Time, 1e6),
            ColumnUnit::Bytes => (UnitKind::Bytes, 1.0),
            ColumnUnit::Percent => (UnitKind::Percent, 1.0),
            ColumnUnit::GigabytesPerSecond => (UnitKind::Rate, 1.0),
            // Ranks and GPUs are ids in every column.
            ColumnUnit::Id | ColumnUnit::Name | ColumnUnit::Text => {
                return self.push(UnitKind::Plain, value, 0.0, stems(place.name), true, place.row);
            }
            _ => return self.add_unnamed(value, place),
        };
        self.add_number(kind, value * factor, place.name, place.row);
    }

    /// Adds a number whose name may have a unit.
    fn add_unnamed(&mut self, value: f64, place: NumberPlace<'_>) {
        let last = place.name.rsplit(['_', '.']).next().unwrap_or_default();
        let first = place.name.split('.').next().unwrap_or_default();
        let unit = UNITS_OF_NAMES.iter().find(|(name, _, _)| *name == last || *name == first);
        if let Some((_, kind, factor)) = unit {
            self.add_number(*kind, value * factor, place.name, place.row);
        }
        self.add_number(UnitKind::Plain, value, place.name, place.row);
    }

    /// Adds the known values of a GPU: of its architecture, and of the products that it may be.
    fn add_gpu(&mut self, name: &str) {
        let catalog = Catalog::builtin();
        let architecture = catalog.architecture(name).map(|(listed, _)| listed);
        for listed in architecture.into_iter().chain(catalog.products_of(name)) {
            for (name, figure) in &listed.figures {
                self.add_unnamed(figure.value, NumberPlace { name, row: None });
            }
        }
    }

    fn add_text(&mut self, text: &str, row: Option<usize>) {
        for found in numbers(text, &[]) {
            self.fractions.extend(found.parts);
            let (stems, is_id) = match found.identifies {
                Some(place) => (place.names.clone(), true),
                None => (found.counts.clone(), false),
            };
            for factor in &found.factors {
                for (value, tolerance) in found.readings.iter().take(1) {
                    self.push(found.kind, value * factor, tolerance * factor, stems.clone(), is_id, row);
                }
            }
            for value in found.parts.iter().flat_map(|(above, below)| [*above, *below]) {
                self.push(UnitKind::Plain, value, 0.0, stems.clone(), false, row);
            }
        }
    }

    fn add_number(&mut self, kind: UnitKind, value: f64, name: &str, row: Option<usize>) {
        self.push(kind, value, 0.0, stems(name), false, row);
    }

    pub(super) fn add_id(&mut self, value: f64, name: &str) {
        self.push(UnitKind::Plain, value, 0.0, stems(name), true, None);
    }

    fn push(
        &mut self,
        kind: UnitKind,
        value: f64,
        tolerance: f64,
        stems: Vec<String>,
        is_id: bool,
        row: Option<usize>,
    ) {
        self.all.push(Fact { kind, value, tolerance, stems, is_id, row, is_of_statement: false });
    }
}

/// Returns whether a text is a name, not a word of prose.
fn is_like_name(text: &str) -> bool {
    let is_composed = text.contains(['_', ':', '<']) || text.chars().any(|letter| letter.is_ascii_digit());
    let has_capitals = text.chars().skip(1).any(|letter| letter.is_ascii_uppercase());
    text.chars().count() >= SHORTEST_NAME && !text.contains("\n") && (is_composed || has_capitals)
}

/// The texts and names in the rows of a table.
fn texts_of(frame: &DataFrame, columns: &[OutputColumn]) -> Vec<String> {
    let texts = columns.iter().filter(|column| matches!(column.unit, ColumnUnit::Name | ColumnUnit::Text));
    let cells = texts.filter_map(|column| frame.column(&column.name).ok());
    let cells = cells.flat_map(|values| (0..frame.height()).map(move |row| Cell::new(values, row)));
    cells.filter_map(|cell| if let Cell::Text(text) = cell { Some(text) } else { None }).collect()
}

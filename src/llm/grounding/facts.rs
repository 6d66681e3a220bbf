//! The numbers of a document.

use polars::prelude::DataFrame;

use super::numbers::{Written, numbers};
use super::table::{Kind, Noun};
use crate::engine::{ColumnUnit, OutputColumn};
use crate::export::cell::Cell;
use crate::report::document::{Block, Document};

/// Whole numbers of nanoseconds or bytes that may be quoted without their unit are at least so large.
const LEAST_WITHOUT_UNIT: f64 = 1000.0;

/// A number of a document.
#[derive(Clone, Debug)]
struct Fact {
    kind: Kind,
    /// In the base of its kind.
    value: f64,
    /// Its figure or column.
    name: String,
    /// How far it may itself be from what was measured.
    tolerance: f64,
}

/// All numbers of a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts(Vec<Fact>);

impl Facts {
    /// The numbers of figures, views, findings, tables and sentences.
    pub(crate) fn of_document(document: &Document) -> Self {
        let mut facts = Self::default();
        for figure in &document.figures {
            facts.add(&figure.value, figure.unit, &figure.id);
        }
        for view in document.views.all() {
            facts.add_text(&view.line());
            facts.add_number(Kind::Time, view.span_ns as f64, "span_ns");
            for (id, pct) in &view.shares {
                facts.add_number(Kind::Percent, *pct, id);
            }
        }
        for finding in &document.findings {
            facts.add_number(Kind::Percent, finding.confidence * 100.0, "confidence");
            for text in [&finding.title, &finding.explanation].into_iter().chain(&finding.advice) {
                facts.add_text(text);
            }
            if let Some(saving) = &finding.saving {
                facts.add_number(Kind::Time, saving.gpu_time_ns as f64, "gpu_time_ns");
                facts.add_number(Kind::Percent, saving.pct_of_span, "pct_of_span");
                facts.add_text(&saving.by_iteration());
            }
            for evidence in &finding.evidence {
                facts.add_frame(&evidence.frame, &evidence.columns);
                facts.add_number(Kind::Plain, evidence.rows as f64, "rows");
            }
        }
        for section in &document.sections {
            for block in &section.blocks {
                match block {
                    Block::Table(table) => {
                        facts.add_frame(&table.frame, &table.columns);
                        facts.add_number(Kind::Plain, table.total_rows as f64, &format!("{} rows", table.id));
                    }
                    Block::Note(note) => facts.add_text(&note.text),
                    Block::Chart(_) => {}
                }
            }
        }
        document.notes.iter().for_each(|note| facts.add_text(&note.text));
        facts.add_text(&document.summary);
        let provenance = &document.provenance;
        facts.add_number(Kind::Plain, provenance.processes as f64, "processes");
        provenance.ranks.iter().for_each(|rank| facts.add_number(Kind::Plain, *rank as f64, "rank id"));
        facts
    }

    fn add(&mut self, cell: &Cell, unit: ColumnUnit, name: &str) {
        let value = match cell {
            Cell::Integer(value) => *value as f64,
            Cell::Float(value) if value.is_finite() => *value,
            Cell::Text(text) => return self.add_text(text),
            _ => return,
        };
        let (kind, factor) = match unit {
            ColumnUnit::Nanoseconds => (Kind::Time, 1.0),
            ColumnUnit::Microseconds => (Kind::Time, 1e3),
            ColumnUnit::Milliseconds => (Kind::Time, 1e6),
            ColumnUnit::Bytes => (Kind::Bytes, 1.0),
            ColumnUnit::Percent => (Kind::Percent, 1.0),
            ColumnUnit::GigabytesPerSecond => (Kind::Rate, 1.0),
            _ => (Kind::Plain, 1.0),
        };
        self.add_number(kind, value * factor, name);
    }

    fn add_frame(&mut self, frame: &DataFrame, columns: &[OutputColumn]) {
        for column in columns {
            let Ok(values) = frame.column(&column.name) else { continue };
            for row in 0..frame.height() {
                self.add(&Cell::new(values, row), column.unit, &column.name);
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        for found in numbers(text, &[]) {
            let name = found.noun.or(found.identifies).and_then(|noun| noun.names.first());
            let name = name.cloned().unwrap_or_default();
            for factor in &found.factors {
                let (value, tolerance) = (found.value * factor, found.tolerance * factor);
                self.0.push(Fact { kind: found.kind, value, name: name.clone(), tolerance });
            }
        }
    }

    fn add_number(&mut self, kind: Kind, value: f64, name: &str) {
        self.0.push(Fact { kind, value, name: name.to_lowercase(), tolerance: 0.0 });
    }

    /// Whether a number stands in the document, as far as it is rounded.
    pub(crate) fn support(&self, written: &Written) -> bool {
        if let Some(noun) = written.identifies {
            return self.of_noun(written, noun).unwrap_or_else(|| self.has(written, &|fact| fact.kind == Kind::Plain));
        }
        match written.kind {
            Kind::Plain => match written.noun.and_then(|noun| self.of_noun(written, noun)) {
                Some(is_there) => is_there,
                None => self.has(written, &|fact| is_quoted_bare(fact, written)),
            },
            Kind::Percent => {
                let is_share =
                    |fact: &Fact| fact.kind == Kind::Plain && fact.value.fract() != 0.0 && fact.value.abs() <= 1.0;
                let of_share =
                    Written { value: written.value / 100.0, tolerance: written.tolerance / 100.0, ..written.clone() };
                self.has(written, &|fact| fact.kind == Kind::Percent) || self.has(&of_share, &is_share)
            }
            Kind::Times => self.has(written, &is_factor),
            kind => self.has(written, &|fact| fact.kind == kind),
        }
    }

    /// Whether it is a number of a noun; `None` where the document counts nothing of the kind.
    fn of_noun(&self, written: &Written, noun: &Noun) -> Option<bool> {
        let is_of =
            |fact: &Fact| fact.kind == Kind::Plain && noun.names.iter().any(|name| fact.name.contains(name.as_str()));
        self.0.iter().any(is_of).then(|| self.has(written, &is_of))
    }

    fn has(&self, written: &Written, is_of: &dyn Fn(&Fact) -> bool) -> bool {
        self.0.iter().filter(|fact| is_of(fact)).any(|fact| {
            written.factors.iter().any(|factor| {
                let (value, tolerance) = (
                    written.value * factor,
                    written.tolerance * factor + fact.tolerance.min(written.tolerance * factor),
                );
                (fact.value.abs() - value.abs()).abs() <= tolerance * (1.0 + 1e-6) + value.abs() * 1e-9
            })
        })
    }
}

/// Whether something is so many times something else: counts and ids are no factors.
fn is_factor(fact: &Fact) -> bool {
    let is_called_so = ["ratio", "factor", "speedup", "times"].iter().any(|word| fact.name.contains(word));
    fact.kind == Kind::Times || fact.kind == Kind::Plain && (is_called_so || fact.value.fract() != 0.0)
}

/// Whether a number without a unit may be this one.
fn is_quoted_bare(fact: &Fact, written: &Written) -> bool {
    match fact.kind {
        Kind::Plain | Kind::Times => true,
        Kind::Percent | Kind::Rate => written.has_decimals,
        Kind::Time | Kind::Bytes => written.value >= LEAST_WITHOUT_UNIT,
    }
}

//! The index of the documents of many runs.

use super::change::{Change, changes};
use super::entry::{Outcome, RunEntry, RunFigures};

/// Whether any figure can be compared.
fn is_measured(figures: &RunFigures) -> bool {
    figures.span_ns.is_some()
}

/// All runs, and the baseline.
#[derive(Clone, Debug)]
pub struct Index {
    /// Heading.
    pub title: String,
    /// Options of the effective filters, with their values.
    pub filters: Vec<(String, String)>,
    /// The runs in order.
    pub entries: Vec<RunEntry>,
    /// Name of the baseline.
    pub baseline: Option<String>,
}

impl Index {
    /// Creates an index of runs that are compared to the named one, or by default to the first that has a document.
    pub fn new(title: impl Into<String>, entries: Vec<RunEntry>, baseline: Option<&str>) -> Self {
        let first =
            || entries.iter().find(|entry| entry.figures().is_some_and(is_measured)).map(|entry| entry.name.clone());
        let any = || entries.iter().find(|entry| entry.figures().is_some()).map(|entry| entry.name.clone());
        let baseline = baseline.map(ToOwned::to_owned).or_else(first).or_else(any);
        Self { title: title.into(), filters: Vec::new(), entries, baseline }
    }

    /// The same index with the effective filters.
    #[must_use]
    pub fn with_filters(mut self, filters: Vec<(String, String)>) -> Self {
        self.filters = filters;
        self
    }

    /// The changes of a run from the baseline; none for the baseline itself, and none if either has no document.
    pub fn changes(&self, entry: &RunEntry) -> Vec<Change> {
        let baseline = self.entries.iter().find(|other| Some(&other.name) == self.baseline.as_ref());
        match (baseline.and_then(RunEntry::figures), entry.figures()) {
            (Some(baseline), Some(figures)) if Some(&entry.name) != self.baseline.as_ref() => {
                changes(baseline, figures, entry.comparison.as_ref())
            }
            _ => Vec::new(),
        }
    }

    /// The runs without a document, with the reason.
    pub fn failed(&self) -> impl Iterator<Item = (&RunEntry, &str)> {
        self.entries.iter().filter_map(|entry| match &entry.outcome {
            Outcome::Failed { reason } => Some((entry, reason.as_str())),
            Outcome::Done { .. } => None,
        })
    }
}

impl RunEntry {
    /// Figures to compare, if the run has a document.
    pub fn figures(&self) -> Option<&RunFigures> {
        match &self.outcome {
            Outcome::Done { figures, .. } => Some(figures),
            Outcome::Failed { .. } => None,
        }
    }

    /// The document, if the run has one.
    pub fn file(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Done { file, .. } => Some(file),
            Outcome::Failed { .. } => None,
        }
    }
}

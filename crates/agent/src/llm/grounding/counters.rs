//! The counters that a command may request.

use std::collections::BTreeSet;

use crate::llm::payload::bare;
use wavesieve_export::cell::Cell;
use wavesieve_model::analysis::hardware::devices::target;
use wavesieve_model::analysis::hardware::metrics::{Definitions, Metric, OnArchitecture};
use wavesieve_report::document::{Block, Document};

/// Counters in formulas for the architectures of a document, and counters that the document shows.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    known: BTreeSet<String>,
    /// The architectures, for messages.
    architectures: String,
}

impl Counters {
    /// Counters for the architectures of a document, or for all if no formulas exist for its architectures.
    pub fn of_document(document: &Document) -> Self {
        let definitions = Definitions::builtin();
        let gpus: BTreeSet<&str> =
            document.provenance.inputs.iter().flat_map(|input| &input.gpus).map(|name| target(name)).collect();
        let mut known = BTreeSet::new();
        let mut has_formulas = false;
        for metric in &definitions.metrics {
            for on in gpus.iter().filter_map(|gpu| metric.on(gpu)) {
                add(metric, on, &mut known);
                has_formulas = true;
            }
        }
        if !has_formulas {
            for metric in &definitions.metrics {
                metric.on.iter().for_each(|on| add(metric, on, &mut known));
            }
        }
        known.extend(definitions.accumulated.counters.iter().chain(&definitions.accumulated.accumulator).cloned());
        for block in document.sections.iter().flat_map(|section| &section.blocks) {
            let Block::Table(table) = block else { continue };
            for column in table.columns.iter().filter(|column| column.name.starts_with("counter")) {
                let Ok(values) = table.frame.column(&column.name) else { continue };
                for row in 0..table.frame.height() {
                    if let Cell::Text(name) = Cell::new(values, row) {
                        known.insert(bare(&name).to_owned());
                    }
                }
            }
        }
        let architectures = gpus.into_iter().collect::<Vec<_>>().join(", ");
        Self { known, architectures: if has_formulas { architectures } else { "any architecture".to_owned() } }
    }

    /// The reason why a counter of a command is not confirmed.
    pub fn problem(&self, words: &[String]) -> Option<String> {
        let mut is_counter = false;
        for word in words.iter().take_while(|word| *word != "--") {
            let listed = match word.strip_prefix("--pmc=") {
                Some(listed) => listed,
                None if word.starts_with('-') => {
                    is_counter = word == "--pmc";
                    continue;
                }
                None if is_counter => word,
                None => continue,
            };
            let names = listed.split([',', ' ']).filter(|name| !name.is_empty() && !is_placeholder(name));
            let unknown = names.into_iter().find(|name| !self.known.contains(bare(name)));
            if let Some(name) = unknown {
                return Some(format!("no counter {name} is known on {}", self.architectures));
            }
        }
        None
    }
}

fn add(metric: &Metric, on: &OnArchitecture, known: &mut BTreeSet<String>) {
    known.extend(on.formula.counters().iter().map(|counter| bare(&counter.name).to_owned()));
    if metric.is_derived_counter() {
        known.insert(metric.title.clone());
    }
}

fn is_placeholder(name: &str) -> bool {
    name == "COUNTER" || name.chars().all(|letter| matches!(letter, '.' | '…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_with_an_unknown_suffix_is_not_known() {
        let counters = Counters { known: BTreeSet::from(["TCC_HIT".to_owned()]), architectures: "gfx942".to_owned() };
        let problem = |name: &str| counters.problem(&["--pmc".to_owned(), name.to_owned()]);
        for known in ["TCC_HIT", "TCC_HIT_sum", "TCC_HIT[3]:device=1"] {
            assert_eq!(problem(known), None);
        }
        assert!(problem("TCC_HIT:3x").is_some() && problem("TCC_MISS").is_some());
    }
}

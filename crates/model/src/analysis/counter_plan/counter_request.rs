//! Resolves a request (counters, derived counters, metrics, panels) to the raw counters that must be collected.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::counter_plan::counter_blocks::{ArchitectureBlocks, BlockError, CounterBlocks};
use crate::analysis::hardware::metrics::{
    Definitions, Expression, MAX_DERIVED_DEPTH, Metric, Normalization, hardware_counter,
};
use crate::text::similar::{alike, alike_but_for_slips};

/// Maximum number of names proposed for an unknown name.
const PROPOSED: usize = 3;

/// Why something that was requested cannot be collected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The counter has no block.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The name is unknown.
    #[error("unknown counter or metric `{name}`{}", proposal(.nearest))]
    Unknown {
        /// The requested name.
        name: String,
        /// Similar names.
        nearest: Vec<String>,
    },
    /// It exists on other architectures.
    #[error("{name} is not defined on {architecture}, only on {on}{}", proposal(.nearest))]
    NotHere {
        /// The requested name.
        name: String,
        architecture: String,
        /// Where it exists.
        on: String,
        /// Similar names that exist there.
        nearest: Vec<String>,
    },
    /// It has another name there.
    #[error("{architecture} has no {counter}; it is {there} on it")]
    Renamed {
        counter: String,
        architecture: String,
        /// Its name there.
        there: String,
    },
    /// An accumulator without a counter to accumulate.
    #[error(
        "{name} accumulates the counter before it; ask for {example}_ACCUM, or name it right after one of {counters}"
    )]
    Accumulator {
        /// The requested name.
        name: String,
        /// A counter that can be accumulated.
        example: String,
        /// All counters that can be accumulated.
        counters: String,
    },
    /// A counter that the hardware does not accumulate.
    #[error("{counter} cannot be accumulated; the hardware does that for {counters}")]
    NotAccumulated {
        counter: String,
        /// All counters that can be accumulated.
        counters: String,
    },
}

fn proposal(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!(" (did you mean {}?)", names.join(", ")) }
}

/// The raw counters of one requested thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needs {
    /// Counters by their names of the hardware.
    pub counters: BTreeSet<String>,
    /// Counters of which the hardware must accumulate the level.
    pub accumulated: BTreeSet<String>,
}

impl Needs {
    /// Whether it needs no counters.
    pub fn is_empty(&self) -> bool {
        self.counters.is_empty() && self.accumulated.is_empty()
    }

    /// Counters, including the accumulated ones.
    pub fn all(&self) -> BTreeSet<String> {
        self.counters.union(&self.accumulated).cloned().collect()
    }

    fn add(&mut self, other: &Self) {
        self.counters.extend(other.counters.iter().cloned());
        self.accumulated.extend(other.accumulated.iter().cloned());
    }
}

/// The result of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// All raw counters.
    pub needs: Needs,
    /// Needs of each counter, derived counter and metric, by its name.
    pub of: BTreeMap<String, Needs>,
    /// Derived counters among them that must not share passes, each with the number of its group and what it needs.
    pub apart: BTreeMap<String, (usize, Needs)>,
    /// Derived counters that rocprofiler-sdk itself defines on the architecture.
    pub known_to_profiler: BTreeSet<String>,
    /// Metrics of panels that the architecture does not have.
    pub left_out: BTreeSet<String>,
    /// Issues to check, in words.
    pub notes: BTreeSet<String>,
}

/// Resolves names on one architecture.
pub struct Resolver<'a> {
    definitions: &'a Definitions,
    facts: &'a CounterBlocks,
    blocks: &'a ArchitectureBlocks,
    per: Normalization,
    /// Hardware counters that formulas of the architecture name.
    named: BTreeSet<&'a str>,
    resolved: Resolved,
}

impl<'a> Resolver<'a> {
    /// Creates a resolver that counts metrics `per` something.
    pub fn new(
        definitions: &'a Definitions,
        facts: &'a CounterBlocks,
        blocks: &'a ArchitectureBlocks,
        per: Normalization,
    ) -> Self {
        let on = definitions.metrics.iter().filter_map(|metric| metric.on(&blocks.architecture));
        let named = on.flat_map(|on| on.formula.counters()).map(|counter| hardware_counter(&counter.name)).collect();
        Self { definitions, facts, blocks, per, named, resolved: Resolved::default() }
    }

    /// The combined result for all names.
    pub fn finish(self) -> Resolved {
        self.resolved
    }

    /// Adds a list of names: counters, derived counters, ids of metrics, panels. An accumulator belongs to the counter
    /// before it; otherwise their order means nothing.
    ///
    /// # Errors
    /// The first name that cannot be collected.
    pub fn add_all(&mut self, names: &[String]) -> Result<(), RequestError> {
        let accumulators = &self.definitions.accumulated.accumulator;
        let is_accumulator = |name: &String| accumulators.contains(name);
        for (at, name) in names.iter().enumerate() {
            let next = names.get(at + 1).filter(|next| is_accumulator(next));
            let before = at.checked_sub(1).and_then(|before| names.get(before));
            if is_accumulator(name) {
                if !before.is_some_and(|before| self.definitions.accumulated.counters.contains(before)) {
                    return Err(self.not_accumulated(name, before.filter(|before| !is_accumulator(before))));
                }
            } else if next.is_some() && self.definitions.accumulated.counters.contains(name) {
                self.add(&format!("{name}_ACCUM"))?;
            } else {
                self.add(name)?;
            }
        }
        Ok(())
    }

    fn not_accumulated(&self, name: &str, before: Option<&String>) -> RequestError {
        let known = &self.definitions.accumulated.counters;
        let counters = known.join(", ");
        match before {
            Some(counter) => RequestError::NotAccumulated { counter: counter.clone(), counters },
            None => RequestError::Accumulator {
                name: name.to_owned(),
                example: known.first().cloned().unwrap_or_default(),
                counters,
            },
        }
    }

    fn add(&mut self, name: &str) -> Result<(), RequestError> {
        let panel = self.definitions.panel(name);
        if !panel.is_empty() {
            return self.add_panel(name, &panel);
        }
        let needs = match self.definitions.metrics.iter().find(|metric| metric.id == name) {
            Some(metric) => self.of_metric(metric)?,
            None => self.of_counter(name, 0)?,
        };
        if needs.is_empty() {
            self.resolved.notes.insert(format!("{name} needs no counters"));
        }
        self.record(name, needs);
        Ok(())
    }

    fn add_panel(&mut self, name: &str, panel: &[&'a Metric]) -> Result<(), RequestError> {
        let (here, elsewhere): (Vec<&Metric>, Vec<&Metric>) =
            panel.iter().partition(|metric| metric.on(&self.blocks.architecture).is_some());
        let (mut found, mut left_out) = (Vec::new(), Vec::new());
        for metric in here {
            match self.of_metric(metric) {
                Ok(needs) => found.push((metric, needs)),
                // One of many that cannot be collected must not prevent the others.
                Err(_) => left_out.push(metric.id.clone()),
            }
        }
        if found.iter().all(|(_, needs)| needs.is_empty()) && !elsewhere.is_empty() {
            let on: BTreeSet<&str> = elsewhere.into_iter().flat_map(architectures).collect();
            return Err(self.not_here(name, &on));
        }
        for (metric, needs) in found {
            self.record(&metric.id, needs);
        }
        self.resolved.left_out.extend(left_out);
        self.resolved.left_out.extend(elsewhere.into_iter().map(|metric| metric.id.clone()));
        Ok(())
    }

    fn record(&mut self, name: &str, needs: Needs) {
        self.resolved.needs.add(&needs);
        self.resolved.of.insert(name.to_owned(), needs);
    }

    fn not_here(&self, name: &str, on: &BTreeSet<&str>) -> RequestError {
        RequestError::NotHere {
            name: name.to_owned(),
            architecture: self.blocks.architecture.clone(),
            on: on.iter().copied().collect::<Vec<_>>().join(", "),
            nearest: self.nearest(name),
        }
    }

    fn of_metric(&mut self, metric: &Metric) -> Result<Needs, RequestError> {
        match metric.on(&self.blocks.architecture) {
            Some(on) => self.of_formula(&on.formula, 0),
            None => Err(self.not_here(&metric.id, &architectures(metric).collect())),
        }
    }

    fn of_formula(&mut self, formula: &Expression, depth: usize) -> Result<Needs, RequestError> {
        let mut needs = Needs::default();
        let mut is_normalized = false;
        formula.visit(&mut |part| is_normalized |= *part == Expression::Denominator);
        if is_normalized && let Some(denominator) = self.definitions.normalizations.get(self.per.name()) {
            needs.add(&self.of_formula(denominator, depth)?);
        }
        for counter in formula.counters() {
            needs.add(&self.of_counter(&counter.name, depth + 1)?);
        }
        Ok(needs)
    }

    /// Needs of a counter: of a derived one by its formula, otherwise of a hardware counter. The part of the name about
    /// instances is ignored.
    fn of_counter(&mut self, name: &str, depth: usize) -> Result<Needs, RequestError> {
        let definitions = self.definitions;
        if let Some(metric) = definitions.derived_counter(name).filter(|_| depth < MAX_DERIVED_DEPTH) {
            let is_itself = |formula: &Expression| formula.counters().iter().any(|counter| counter.name == name);
            match metric.on(&self.blocks.architecture) {
                Some(on) if !is_itself(&on.formula) => {
                    let needs = self.of_formula(&on.formula, depth + 1)?;
                    if on.is_from_profiler() {
                        self.resolved.known_to_profiler.insert(name.to_owned());
                    }
                    let group = self.facts.apart().position(|names| names.iter().any(|apart| apart == name));
                    if let Some(group) = group {
                        self.resolved.apart.insert(name.to_owned(), (group, needs.clone()));
                    }
                    return Ok(needs);
                }
                Some(_) => {}
                // The combined instances of a counter may be requested wherever the counter may be.
                None if hardware_counter(name) != name => {}
                None => return Err(self.not_here(name, &architectures(metric).collect())),
            }
        }
        self.of_hardware(hardware_counter(name), name)
    }

    fn of_hardware(&mut self, counter: &str, asked: &str) -> Result<Needs, RequestError> {
        let accumulated = &self.definitions.accumulated;
        if accumulated.accumulator.iter().any(|name| name == counter) {
            return Err(self.not_accumulated(counter, None));
        }
        let mut needs = Needs::default();
        let (counter, is_accumulated) = match counter.strip_suffix("_ACCUM") {
            Some(level) if accumulated.counters.iter().any(|name| name == level) => (level, true),
            Some(level) => return Err(self.not_accumulated(counter, Some(&level.to_owned()))),
            None => (counter, false),
        };
        if let Some(there) = self.blocks.renamed(counter) {
            return Err(RequestError::Renamed {
                counter: counter.to_owned(),
                architecture: self.blocks.architecture.clone(),
                there,
            });
        }
        // Anything else would have another meaning for the shell, YAML or the profiler.
        if !counter.chars().all(|character| character.is_ascii_alphanumeric() || character == '_') {
            return Err(RequestError::Unknown { name: asked.to_owned(), nearest: self.nearest(asked) });
        }
        let block = self.blocks.block_of(counter);
        if let Err(error) = block {
            // A name similar to a derived counter is more likely a typing error than a counter of an unknown block.
            let nearest = self.nearest(asked);
            return Err(match error {
                BlockError::NoBlock { .. } if !nearest.is_empty() || !counter.contains('_') => {
                    RequestError::Unknown { name: asked.to_owned(), nearest }
                }
                error => error.into(),
            });
        }
        if !is_accumulated && !self.named.contains(counter) {
            let note = format!(
                "no formula here names {counter} on {}{}; it is planned as given, and `rocprofv3-avail list --pmc` tells whether it exists",
                self.blocks.architecture,
                proposal(&self.nearest(counter))
            );
            self.resolved.notes.insert(note);
        }
        if asked.contains('[') {
            self.resolved.notes.insert(format!("{asked} is collected as {counter}, which gives all instances"));
        }
        let place = if is_accumulated { &mut needs.accumulated } else { &mut needs.counters };
        place.insert(counter.to_owned());
        Ok(needs)
    }

    /// Names on the architecture that are similar to an unknown one; the nearest first.
    fn nearest(&self, name: &str) -> Vec<String> {
        let mut candidates = self.named.clone();
        for metric in self.definitions.metrics.iter().filter(|metric| metric.on(&self.blocks.architecture).is_some()) {
            let is_derived = self.definitions.derived_counter(&metric.title).is_some_and(|one| one.id == metric.id);
            candidates.insert(if is_derived { &metric.title } else { &metric.id });
        }
        candidates.extend(self.definitions.panel_names());
        let asked = name.to_lowercase();
        // One measure suits words that start alike, the other typing errors.
        let score = |candidate: &str| {
            let candidate = candidate.to_lowercase();
            let spoken = alike(&asked, &candidate);
            let typed = alike_but_for_slips(&asked, &candidate);
            (spoken > 0.9 || typed > 0.8).then(|| spoken.max(typed))
        };
        let mut scored: Vec<(f64, &str)> = candidates
            .into_iter()
            .filter(|candidate| *candidate != name)
            .filter_map(|candidate| Some((score(candidate)?, candidate)))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        scored.into_iter().take(PROPOSED).map(|(_, candidate)| candidate.to_owned()).collect()
    }
}

fn architectures(metric: &Metric) -> impl Iterator<Item = &str> {
    metric.on.iter().flat_map(|on| &on.architectures).map(String::as_str)
}

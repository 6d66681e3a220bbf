//! The history of measurements.

use serde::{Deserialize, Serialize};

/// The outcome of a run of a configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The number to minimize or maximize.
    Value(f64),
    /// The reason why the run has no number.
    Failed(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    pub values: Vec<f64>,
    /// The reason for a failure. A configuration that failed does not run again.
    pub failure: Option<String>,
}

/// The runs in their order.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Known runs, by configuration.
    known: Vec<Option<Known>>,
    /// Configurations in the order of their first runs.
    order: Vec<usize>,
    runs: usize,
}

impl History {
    pub fn new(configurations: usize) -> Self {
        Self { known: vec![None; configurations], order: Vec::new(), runs: 0 }
    }

    pub fn add(&mut self, configuration: usize, outcome: &Outcome) {
        let Some(place) = self.known.get_mut(configuration) else { return };
        if place.is_none() {
            self.order.push(configuration);
        }
        let known = place.get_or_insert_default();
        match outcome {
            Outcome::Value(value) => known.values.push(*value),
            Outcome::Failed(reason) => known.failure = Some(reason.clone()),
        }
        self.runs += 1;
    }

    pub fn known(&self, configuration: usize) -> Option<&Known> {
        self.known.get(configuration)?.as_ref()
    }

    /// Configurations in the order of their first runs.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    pub fn runs(&self) -> usize {
        self.runs
    }

    /// The numbers of a configuration; `None` if it ever failed.
    pub fn values(&self, configuration: usize) -> Option<&[f64]> {
        let known = self.known(configuration)?;
        (known.failure.is_none() && !known.values.is_empty()).then_some(known.values.as_slice())
    }

    /// Configurations that ran and never failed, in the order of their first runs.
    pub fn measured(&self) -> impl Iterator<Item = (usize, &[f64])> {
        self.order.iter().filter_map(|configuration| Some((*configuration, self.values(*configuration)?)))
    }

    /// Returns how many configurations failed.
    pub fn failures(&self) -> usize {
        self.order.len() - self.measured().count()
    }
}

//! A chosen unit of work that no process of a trace has.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::DataType;
use thiserror::Error;

use super::lazy_trace::Trace;
use crate::columns::frames::collected;
use crate::derive::repeating::UnitChoice;

/// No process has the chosen unit of work.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("no process has the unit of work {unit}; {available}")]
pub struct MissingUnit {
    unit: UnitChoice,
    available: String,
}

impl Trace {
    /// Checks that a process has the chosen unit of work, if a certain one was chosen.
    ///
    /// # Errors
    /// [`MissingUnit`] if none has it, with the units that there are; another error if these cannot be found.
    pub(super) fn check_unit(&self) -> Result<()> {
        let unit = &self.choice.unit;
        if !unit.is_certain() || self.members().is_empty() {
            return Ok(());
        }
        let units = collected(&self.unfiltered("units", &["is_chosen", "option"])?)?;
        if units.column("is_chosen")?.bool()?.any() {
            return Ok(());
        }
        let options = units.column("option")?.cast(&DataType::String)?;
        let mut seen = BTreeSet::new();
        let options: Vec<&str> = options.str()?.iter().flatten().filter(|option| seen.insert(*option)).collect();
        let available = match options.as_slice() {
            [] => "it has none, so leave --unit out".to_owned(),
            options => format!("available: {}", options.join(", ")),
        };
        Err(MissingUnit { unit: unit.clone(), available }.into())
    }
}

//! The table `anomalies`: the findings of the checks.

use crate::derive::health::checks;
use crate::derive::{Build, DerivedTable};
use wavesieve_model::schema::tables;

/// Its name, for readers that pass their tables to the checks.
pub const ANOMALIES: &str = "anomalies";

pub(crate) static DECLARATION: DerivedTable =
    DerivedTable::new(&tables::derived::ANOMALIES, checks::needs, Build::Checks);

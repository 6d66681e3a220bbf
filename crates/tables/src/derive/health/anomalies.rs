//! The table `anomalies`: what the checks find.

use crate::derive::health::checks;
use crate::derive::{Build, DerivedTable};
use wavesieve_model::schema::tables;

/// Its name, for readers that show the checks what they read.
pub const ANOMALIES: &str = "anomalies";

pub(crate) static DECLARATION: DerivedTable =
    DerivedTable::new(&tables::derived::ANOMALIES, checks::needs, Build::Checks);

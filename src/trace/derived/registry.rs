//! The list of derived tables: what each needs and who builds it.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use polars::prelude::*;

use super::{gpu_segments, idle_gaps, kernel_overlaps, profiler_pauses, region_self_times};
use crate::trace::health;
use crate::trace::identity::Process;

/// Source tables and the columns that are needed of each.
pub type Needs = Vec<(&'static str, Vec<&'static str>)>;
/// Source tables of one process by name, with all rows and the needed columns.
pub type Frames = BTreeMap<&'static str, DataFrame>;

/// The derived table of self times, which depends on where calls are cut.
pub const SELF_TIMES: &str = "region_self_times";

/// How a derived table comes about.
struct Derivation {
    name: &'static str,
    needs: fn() -> Needs,
    build: fn(&Process, &Frames) -> Result<DataFrame>,
}

const DERIVATIONS: &[Derivation] = &[
    Derivation { name: "gpu_segments", needs: gpu_segments::needs, build: gpu_segments::build },
    Derivation { name: SELF_TIMES, needs: region_self_times::needs, build: region_self_times::build },
    Derivation { name: "idle_gaps", needs: idle_gaps::needs, build: idle_gaps::build },
    Derivation { name: "profiler_pauses", needs: profiler_pauses::needs, build: profiler_pauses::build },
    Derivation { name: "kernel_overlaps", needs: kernel_overlaps::needs, build: kernel_overlaps::build },
];

/// The source columns that a derived table is built from. The checks, which see every table as it is read, build
/// `anomalies`.
pub fn needs(derived: &str) -> Needs {
    let derivation = DERIVATIONS.iter().find(|derivation| derivation.name == derived);
    match derivation {
        Some(derivation) => (derivation.needs)(),
        None if derived == "anomalies" => health::needs(),
        None => Vec::new(),
    }
}

/// Builds a derived table of one process, without `process` and `rank`.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn derive(name: &str, process: &Process, tables: &Frames) -> Result<DataFrame> {
    let derivation = DERIVATIONS.iter().find(|derivation| derivation.name == name);
    (derivation.with_context(|| format!("internal: {name} is no derived table"))?.build)(process, tables)
}

/// A table that was asked for.
///
/// # Errors
/// When it was not read, which is a defect.
pub fn needed<'a>(tables: &'a Frames, name: &str) -> Result<&'a DataFrame> {
    tables.get(name).with_context(|| format!("internal: {name} was not read"))
}

/// A column of integers.
pub fn column(name: &str, values: Vec<i64>) -> Column {
    Int64Chunked::from_vec(name.into(), values).into_series().into_column()
}

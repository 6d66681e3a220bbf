//! The table `iterations`: the units of work of a process, with or without markers.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{constant_cat, dictionary_column};
use crate::derive::repeating::periods::Iteration;
use crate::derive::repeating::run_parts;
use crate::derive::repeating::units::{self, Units};
use crate::derive::{Build, DerivedTable, Rows, RowsWhen, WhyEmpty, column};
use wavesieve_model::analysis::iterations::Phase;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Events,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    why_empty: WhyEmpty::Because(NO_UNITS),
    ..DerivedTable::new(&tables::ranging::ITERATIONS, units::kernel_needs, Build::Family(&run_parts::FAMILY))
};

/// The reason if a process has none.
pub(crate) const NO_UNITS: &str =
    "no process repeats a sequence of kernels at least three times, and no range marks a step";

/// The table of units.
pub fn table(units: &Units) -> Result<DataFrame> {
    let dictionary = Phase::ALL.map(|phase| Some(phase.word().to_owned()));
    let phases = units.phases();
    let codes = phases.iter().map(|phase| Phase::ALL.iter().position(|word| word == phase));
    let whole = |name, value: &dyn Fn(&Iteration) -> i64| column(name, units.all.iter().map(value).collect());
    let rows = units.all.len();
    Ok(DataFrame::new_infer_height(vec![
        column("iteration", (0..rows as i64).collect()),
        constant_cat("unit", Some(units.unit), rows)?,
        constant_cat("found_by", Some(units.found_by), rows)?,
        dictionary_column("phase", &dictionary, codes)?,
        column("level", units.levels(&phases)?),
        whole("start_ns", &|one| one.start_ns),
        whole("end_ns", &|one| one.end_ns),
        column("duration_ns", units.durations()),
        whole("kernels", &|one| one.kernels),
        whole("kernel_ns", &|one| one.kernel_ns),
        whole("period", &|one| one.period),
    ])?)
}

//! The table `layers`: what repeats within each unit of work.

use anyhow::Result;
use polars::prelude::*;

use crate::derive::repeating::periods::Iteration;
use crate::derive::repeating::run_parts;
use crate::derive::repeating::units::{self, Units};
use crate::derive::{Build, DerivedTable, Rows, RowsWhen, WhyEmpty, column};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Events,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    why_empty: WhyEmpty::Because(
        "no sequence of kernels repeats within a step, a graph replay or another enclosing unit",
    ),
    ..DerivedTable::new(&tables::ranging::LAYERS, units::needs, Build::Family(&run_parts::FAMILY))
};

/// The table of layers.
pub(super) fn table(units: &Units) -> Result<DataFrame> {
    let places = units.places_of_layers();
    let whole = |name, value: &dyn Fn(&Iteration) -> i64| column(name, units.layers.iter().map(value).collect());
    Ok(DataFrame::new_infer_height(vec![
        column("iteration", places.iter().map(|(unit, _)| *unit).collect()),
        column("layer", places.iter().map(|(_, layer)| *layer).collect()),
        whole("start_ns", &|one| one.start_ns),
        whole("end_ns", &|one| one.end_ns),
        whole("duration_ns", &Iteration::duration_ns),
        whole("kernels", &|one| one.kernels),
        whole("kernel_ns", &|one| one.kernel_ns),
        whole("period", &|one| one.period),
    ])?)
}

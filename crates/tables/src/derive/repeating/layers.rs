//! The table `layers`: what repeats within each unit of work.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, integers};
use crate::derive::repeating::run_parts;
use crate::derive::repeating::unit_layers::UnitLayer;
use crate::derive::repeating::units::{self, Units};
use crate::derive::{Build, DerivedTable, Rows, RowsWhen, WhyEmpty, column};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Events,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    why_empty: WhyEmpty::Because("no kernels repeat within a unit of work at least three times"),
    ..DerivedTable::new(&tables::ranging::LAYERS, units::kernel_needs, Build::Family(&run_parts::FAMILY))
};

/// The table of layers.
pub(super) fn table(units: &Units) -> Result<DataFrame> {
    let places = units.places_of_layers();
    let whole = |name, value: &dyn Fn(&UnitLayer) -> i64| column(name, units.layers.iter().map(value).collect());
    Ok(DataFrame::new_infer_height(vec![
        column("iteration", places.iter().map(|place| place.unit).collect()),
        column("layer", places.iter().map(|place| place.place).collect()),
        integers("of_layer", places.iter().map(|place| Some(place.layer))),
        categories("pass", units.layers.iter().map(|layer| layer.pass.map(|pass| pass.direction.word())))?,
        whole("kind", &|layer| layer.kind),
        whole("start_ns", &|layer| layer.own.start_ns),
        whole("end_ns", &|layer| layer.own.end_ns),
        whole("duration_ns", &|layer| layer.own.duration_ns()),
        whole("kernels", &|layer| layer.own.kernels),
        whole("kernel_ns", &|layer| layer.own.kernel_ns),
        whole("period", &|layer| layer.own.period),
    ])?)
}

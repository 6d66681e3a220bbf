//! The table `range_work`: the ROCTx range of each kernel and copy.

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{dictionary_column, integers};
use crate::derive::launching::launched_work::Launched;
use crate::derive::ranging::range_forest::{RangeForest, needs_of_work};
use crate::derive::ranging::range_tables;
use crate::derive::{Build, DerivedTable, Frames, Owner, Rows, RowsWhen, WantedColumns, column};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Events,
    owners: &Owner::WORK,
    rows_when: RowsWhen::any(&["kernels", "memory_copies"]),
    ..DerivedTable::new(&tables::ranging::RANGE_WORK, needs_of_work, Build::Family(&range_tables::FAMILY))
};

/// The range in which each kernel and copy was launched.
pub fn table(forest: &RangeForest, tables: &Frames) -> Result<DataFrame> {
    let work = &forest.work;
    let launched = || work.launched.iter();
    let range_ids = || forest.range_of().map(|range| Some(range?.region_id));
    let launch = || {
        launched().zip(forest.range_of()).map(|(launched, range)| match (launched.call(), range) {
            (_, Some(_)) => Some(0),
            (Some(_), None) => Some(1),
            (None, None) => Some(2),
        })
    };
    let whole = |name: &str, value: &dyn Fn(&Launched) -> i64| Ok(column(name, launched().map(value).collect()));
    let is_copy = || launched().map(|row| Some(usize::from(row.is_copy)));
    let mut columns = WantedColumns::new(tables, DECLARATION.table.name);
    columns.add("kind", |name| Ok(dictionary_column(name, &["kernel", "copy"], is_copy())?))?;
    columns.add("target_id", |name| whole(name, &|row| work.id(row)))?;
    columns.add("range_id", |name| Ok(integers(name, range_ids())))?;
    columns.add("launch", |name| Ok(dictionary_column(name, &["range", "outside", "unknown"], launch())?))?;
    columns.add("gpu", |name| Ok(integers(name, launched().map(|row| work.gpu(row)))))?;
    columns.add("start_ns", |name| whole(name, &|row| row.start_ns))?;
    columns.add("end_ns", |name| whole(name, &|row| row.end_ns))?;
    columns.add("duration_ns", |name| whole(name, &|row| row.end_ns.saturating_sub(row.start_ns)))?;
    columns.into_frame()
}

//! The table `region_times`: the duration of each region, with columns to group by.

use anyhow::Result;
use polars::prelude::*;

use crate::derive::calls::{call_times, region_self_times};
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, RowsWhen, needed};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    passthrough: PASSTHROUGH,
    owners: &[Owner::REGION],
    is_of_cut_calls: true,
    rows_when: RowsWhen::all(&["regions"]),
    ..DerivedTable::new(&tables::launching::REGION_TIMES, needs, Build::Family(&call_times::FAMILY))
};

/// Columns of `regions` that are passed through, read only if requested.
const PASSTHROUGH: &[&str] = &["domain", "category"];

fn needs() -> Needs {
    let mut needs = region_self_times::needs();
    needs.iter_mut().for_each(|(_, columns)| columns.extend(PASSTHROUGH.iter().copied()));
    needs
}

/// Joins the self time of each valid region with its description, from the self times of all regions.
pub fn build(tables: &Frames, self_times: &DataFrame) -> Result<DataFrame> {
    let regions = needed(tables, "regions")?;
    let valid = region_self_times::by_id(regions, regions.column("valid")?.bool()?)?;
    let self_ns = region_self_times::of_calls(self_times, &valid)?;
    let region_ns = (valid.column("end_ns")? - valid.column("start_ns")?)?.with_name("region_ns".into());
    let taken = ["region_id", "name", "tid"].iter().chain(PASSTHROUGH).filter_map(|name| valid.column(name).ok());
    let mut columns: Vec<Column> = taken.cloned().collect();
    columns.extend([region_ns, self_ns]);
    Ok(DataFrame::new(valid.height(), columns)?)
}

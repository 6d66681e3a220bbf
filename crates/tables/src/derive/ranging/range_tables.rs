//! The tables `ranges`, `range_self_times` and `range_work`, which share one forest of ranges.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use polars::prelude::*;

use crate::derive::ranging::range_forest::RangeForest;
use crate::derive::ranging::{range_self_times, range_work, ranges};
use crate::derive::{Family, Frames, OnDemandTables};
use wavesieve_model::schema::process::Process;

pub static FAMILY: Family = Family { build, optional_needs: Vec::new };

/// Builds some of the tables from one forest; `ranges` comes last, because it adds up the work of nested ranges.
fn build(
    process: &Process,
    tables: &Frames,
    more: &dyn OnDemandTables,
    names: &[&'static str],
) -> Result<Vec<DataFrame>> {
    let [self_times, work, all] =
        [&range_self_times::DECLARATION, &range_work::DECLARATION, &ranges::DECLARATION].map(|one| one.table.name);
    let mut forest = RangeForest::from_frames(tables)?;
    let mut built: BTreeMap<&str, DataFrame> = BTreeMap::new();
    if names.contains(&self_times) {
        built.insert(self_times, range_self_times::table(&forest)?);
    }
    if names.contains(&work) {
        built.insert(work, range_work::table(&forest, tables)?);
    }
    if names.contains(&all) {
        let compared = ranges::compared(&forest, process, tables, more)?;
        forest.add_up();
        let mut table = ranges::table(&forest)?;
        table.hstack_mut(&compared)?;
        built.insert(all, table);
    }
    let table = |name: &&'static str| built.remove(name).with_context(|| format!("internal: {name} is of no ranges"));
    names.iter().map(table).collect()
}

//! The tables `region_self_times`, `region_times` and `api_calls`, which all report self times.

use anyhow::{Result, bail};
use polars::prelude::*;

use crate::derive::calls::{api_calls, region_self_times, region_times};
use crate::derive::{Family, Frames, OnDemandTables};
use wavesieve_model::schema::process::Process;

pub static FAMILY: Family = Family { build, optional_needs: Vec::new };

/// Builds some of the tables from self times that are computed once.
fn build(
    _process: &Process,
    tables: &Frames,
    _more: &dyn OnDemandTables,
    names: &[&'static str],
) -> Result<Vec<DataFrame>> {
    let self_times = region_self_times::build(tables)?;
    let table = |name: &&'static str| match *name {
        "region_self_times" => Ok(self_times.clone()),
        "region_times" => region_times::build(tables, &self_times),
        "api_calls" => api_calls::build(tables, &self_times),
        other => bail!("internal: {other} tells no self times"),
    };
    names.iter().map(table).collect()
}

//! The tables `region_self_times`, `region_times` and `api_calls`, all of which tell self times.

use anyhow::{Result, bail};
use polars::prelude::*;

use crate::derive::Frames;
use crate::derive::calls::{api_calls, region_self_times, region_times};
use crate::schema::process::Process;

/// Names of the tables.
pub const SELF_TIMES: &str = "region_self_times";
/// Name of the table of region durations.
pub const REGION_TIMES: &str = "region_times";
/// Name of the table of classified API calls.
pub const API_CALLS: &str = "api_calls";

/// Builds some of the tables, in the order of their names, from self times that are worked out once.
///
/// # Errors
/// When a needed column is missing or has another type, or a name is that of another table.
pub fn build(_process: &Process, tables: &Frames, names: &[&'static str]) -> Result<Vec<DataFrame>> {
    let self_times = region_self_times::build(tables)?;
    let table = |name: &&'static str| match *name {
        SELF_TIMES => Ok(self_times.clone()),
        REGION_TIMES => region_times::build(tables, &self_times),
        API_CALLS => api_calls::build(tables, &self_times),
        other => bail!("internal: {other} tells no self times"),
    };
    names.iter().map(table).collect()
}

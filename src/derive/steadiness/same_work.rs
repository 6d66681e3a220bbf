//! The tables `dispatch_groups` and `slow_dispatches`, which compare dispatches that do the same work.

use anyhow::{Result, bail};
use polars::prelude::*;

use crate::derive::steadiness::launch_shapes::Works;
use crate::derive::steadiness::{dispatch_groups, slow_dispatches};
use crate::derive::{Frames, needed};
use crate::schema::process::Process;

/// Names of the tables.
pub const GROUPS: &str = "dispatch_groups";
/// Name of the table of slow dispatches.
pub const SLOW: &str = "slow_dispatches";

/// Builds one or both of the tables, in the order of their names, from work that is told apart once.
///
/// # Errors
/// When a needed column is missing or has another type, or a name is that of another table.
pub fn build(_process: &Process, tables: &Frames, names: &[&'static str]) -> Result<Vec<DataFrame>> {
    let kernels = needed(tables, "kernels")?;
    let works = Works::of(kernels, tables.kernel_order()?)?;
    let by_work = works.by_work()?;
    let table = |name: &&'static str| match *name {
        GROUPS => dispatch_groups::build(kernels, &by_work),
        SLOW => slow_dispatches::build(kernels, works.by_work_and_communicator()?.as_ref().unwrap_or(&by_work)),
        other => bail!("internal: {other} compares no dispatches of the same work"),
    };
    names.iter().map(table).collect()
}

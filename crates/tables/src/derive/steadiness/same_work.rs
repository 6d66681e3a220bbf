//! The tables `dispatch_groups` and `slow_dispatches`, which compare dispatches that do the same work.

use anyhow::{Result, bail};
use polars::prelude::*;

use crate::derive::steadiness::launch_shapes::ShapeGroups;
use crate::derive::steadiness::recorded_messages::{self, kernels_with_messages};
use crate::derive::steadiness::{dispatch_groups, slow_dispatches};
use crate::derive::{Family, Frames, OnDemandTables};
use wavesieve_model::schema::process::Process;

pub static FAMILY: Family = Family { build, optional_needs: recorded_messages::optional_needs };

/// Builds one or both of the tables from dispatches that are grouped once.
fn build(
    process: &Process,
    tables: &Frames,
    more: &dyn OnDemandTables,
    names: &[&'static str],
) -> Result<Vec<DataFrame>> {
    let kernels = &kernels_with_messages(process, tables, more)?;
    let works = ShapeGroups::new(kernels, tables.kernel_order()?)?;
    let by_work = works.by_work()?;
    let table = |name: &&'static str| match *name {
        "dispatch_groups" => dispatch_groups::build(kernels, &by_work),
        "slow_dispatches" => {
            slow_dispatches::build(kernels, works.by_work_and_communicator()?.as_ref().unwrap_or(&by_work))
        }
        other => bail!("internal: {other} compares no dispatches of the same work"),
    };
    names.iter().map(table).collect()
}

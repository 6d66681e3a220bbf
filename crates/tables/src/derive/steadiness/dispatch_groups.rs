//! The table `dispatch_groups`: stability of dispatches of the same work.

use anyhow::Result;
use polars::prelude::*;
use rayon::prelude::*;

use crate::columns::frames::{floats, integers};
use crate::derive::steadiness::launch_shapes::{SHAPE, ShapeGroup};
use crate::derive::steadiness::same_work;
use crate::derive::{Build, DerivedTable, Needs, RowsWhen, column};
use wavesieve_model::analysis::steadiness::Steadiness;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["kernels"]),
    ..DerivedTable::new(&tables::steadiness::DISPATCH_GROUPS, needs, Build::Family(&same_work::FAMILY))
};

/// Columns of the first dispatch.
const OF_FIRST: [&str; 7] = ["kernel_id", "kernel_name", "short_name", "category", "gpu", "device", "dispatch_id"];

fn needs() -> Needs {
    let mut columns = OF_FIRST.to_vec();
    columns.extend(SHAPE);
    columns.extend(["start_ns", "duration_ns", "valid"]);
    vec![("kernels", columns)]
}

/// Summarizes the groups of kernels that do the same work.
pub fn build(kernels: &DataFrame, works: &[ShapeGroup]) -> Result<DataFrame> {
    let inspected: Vec<Option<(u32, i64, Steadiness)>> = works.par_iter().map(inspect).collect();
    let groups: Vec<(u32, i64, Steadiness)> = inspected.into_iter().flatten().collect();

    let firsts = IdxCa::from_vec("".into(), groups.iter().map(|(row, ..)| *row).collect());
    let mut names = OF_FIRST.to_vec();
    names.extend(SHAPE);
    let mut frame = kernels.select(names)?.take(&firsts)?;
    frame.rename("dispatch_id", "first_dispatch_id".into())?;
    let drifts = || groups.iter().map(|(.., steadiness)| steadiness.drift);
    let modes = || groups.iter().map(|(.., steadiness)| steadiness.modes);
    let starts = kernels.column("start_ns")?.take(&firsts)?.with_name("first_start_ns".into());
    frame.hstack_mut(&[
        starts,
        column("calls", groups.iter().map(|(_, calls, _)| *calls).collect()),
        column("total_ns", groups.iter().map(|(.., steadiness)| steadiness.total_ns).collect()),
        floats("median_ns", groups.iter().map(|(.., steadiness)| Some(steadiness.spread.median_ns))),
        floats("mad_ns", groups.iter().map(|(.., steadiness)| Some(steadiness.spread.mad_ns))),
        column("first_ns", groups.iter().map(|(.., steadiness)| steadiness.first_ns).collect()),
        floats("rest_median_ns", groups.iter().map(|(.., steadiness)| steadiness.rest_median_ns)),
        floats("early_median_ns", drifts().map(|drift| drift.map(|drift| drift.early_ns))),
        floats("late_median_ns", drifts().map(|drift| drift.map(|drift| drift.late_ns))),
        floats("drift_noise_ns", drifts().map(|drift| drift.map(|drift| drift.noise_ns))),
        floats("jitter_ns", groups.iter().map(|(.., steadiness)| steadiness.jitter_ns)),
        floats("low_mode_ns", modes().map(|modes| modes.map(|modes| modes.low_ns))),
        floats("high_mode_ns", modes().map(|modes| modes.map(|modes| modes.high_ns))),
        integers("high_mode_calls", modes().map(|modes| modes.map(|modes| modes.high_calls))),
        floats("mode_gap", modes().map(|modes| modes.map(|modes| modes.gap))),
    ])?;
    Ok(frame)
}

fn inspect(work: &ShapeGroup) -> Option<(u32, i64, Steadiness)> {
    let calls = i64::try_from(work.rows.len()).unwrap_or(i64::MAX);
    Some((*work.rows.first()?, calls, Steadiness::compute(&work.durations)?))
}

//! The table `dispatch_features`: every dispatch with its repetition, its range and its call.

use anyhow::Result;
use polars::prelude::*;

use super::repetition_of::Repetitions;
use crate::columns::frames::{dictionary_column, integers};
use crate::columns::values::FrameValues;
use crate::derive::launching::dispatch_launches;
use crate::derive::ranging::range_forest::{self, RangeForest};
use crate::derive::repeating::units;
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, Rows, RowsWhen, column, needed};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Events,
    owners: &[Owner::KERNEL],
    rows_when: RowsWhen::all(&["kernels"]),
    ..DerivedTable::new(&tables::features::DISPATCH_FEATURES, needs, Build::Alone(build))
};

/// Columns of `kernels` that are copied, in the order of the table.
const TAKEN: [&str; 18] = [
    "dispatch_id",
    "kernel_id",
    "kernel_name",
    "short_name",
    "category",
    "gpu",
    "device",
    "queue_id",
    "stream_id",
    "tid",
    "workgroup_x",
    "workgroup_y",
    "workgroup_z",
    "grid_x",
    "grid_y",
    "grid_z",
    "lds_bytes",
    "scratch_bytes",
];

fn needs() -> Needs {
    let own = vec![("kernels", TAKEN.to_vec())];
    units::merged([own, dispatch_launches::needs(), units::needs(), range_forest::needs_of_work()])
}

/// Adds the columns of three other tables to every valid dispatch.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let (kernels, _) = tables.kernel_order()?.of_valid(needed(tables, "kernels")?)?;
    let launches = dispatch_launches::of_tables(tables, true)?;
    let repetitions = Repetitions::find(tables)?;
    let forest = RangeForest::from_frames(tables)?;
    let launched = forest.work.launched.iter().zip(forest.range_of());
    let mut of_dispatch: Vec<(i64, i64, u32)> = launched
        .filter_map(|(launched, range)| {
            let range = range.filter(|_| !launched.is_copy)?;
            Some((forest.work.id(launched), range.region_id, range.path))
        })
        .collect();
    of_dispatch.sort_unstable();
    let range_of = |id: i64| {
        let place = of_dispatch.binary_search_by_key(&id, |(dispatch, ..)| *dispatch).ok()?;
        of_dispatch.get(place).map(|(_, range, path)| (*range, *path))
    };

    let starts = kernels.integer("start_ns")?;
    let starts: Vec<i64> = starts.iter().map(Option::unwrap_or_default).collect();
    let first_ns = starts.iter().copied().min().unwrap_or(0);
    let at: Vec<Option<usize>> = starts.iter().map(|start_ns| repetitions.at(*start_ns)).collect();
    let ids = kernels.integer("dispatch_id")?;
    let ranges: Vec<Option<(i64, u32)>> = ids.iter().map(|id| range_of(id?)).collect();

    let mut frame = kernels.select(TAKEN)?;
    let phases = at.iter().map(|place| repetitions.phase((*place)?));
    frame.hstack_mut(&[
        integers("iteration", at.iter().map(|place| i64::try_from((*place)?).ok())),
        dictionary_column("phase", &Repetitions::words(), phases)?,
        integers("range_id", ranges.iter().map(|range| Some((*range)?.0))),
        dictionary_column("range_path", &forest.paths, ranges.iter().map(|range| Some((*range)?.1 as usize)))?,
        launches.column("api_name")?.clone(),
        launches.column("queue_delay_ns")?.clone().with_name("launch_delay_ns".into()),
        column("since_start_ns", starts.iter().map(|start_ns| start_ns.saturating_sub(first_ns)).collect()),
        column("start_ns", starts),
        kernels.column("end_ns")?.clone(),
        launches.column("kernel_ns")?.clone().with_name("duration_ns".into()),
    ])?;
    Ok(frame)
}

//! The table `slow_dispatches`: dispatches that took much longer than others of the same work.

use anyhow::Result;
use polars::prelude::*;
use rayon::prelude::*;

use crate::columns::frames::floats;
use crate::derive::steadiness::launch_shapes::{SHAPE, ShapeGroup, add_group_columns};
use crate::derive::steadiness::same_work;
use crate::derive::{Build, DerivedTable, Needs, RowsWhen, WhyEmpty, column};
use wavesieve_model::analysis::steadiness::Spread;
use wavesieve_model::analysis::thresholds::Thresholds;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    passthrough: PASSTHROUGH,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    why_empty: WhyEmpty::AllIsWell,
    ..DerivedTable::new(&tables::steadiness::SLOW_DISPATCHES, needs, Build::Family(&same_work::FAMILY))
};

/// Columns of the dispatch.
const OF_DISPATCH: [&str; 11] = [
    "dispatch_id",
    "kernel_id",
    "kernel_name",
    "short_name",
    "category",
    "gpu",
    "device",
    "queue_id",
    "stream_id",
    "start_ns",
    "duration_ns",
];
/// Columns of the dispatch that no other column depends on. The table is built without them if they are not requested.
const PASSTHROUGH: &[&str] = &["kernel_id", "short_name", "device", "queue_id"];

/// A dispatch compared with the others of the same work.
struct SlowDispatch {
    row: u32,
    /// Row of the first dispatch of the work.
    first: u32,
    ordinal: i64,
    calls: i64,
    spread: Spread,
    excess_ns: f64,
    z: f64,
}

fn needs() -> Needs {
    let mut columns = OF_DISPATCH.to_vec();
    add_group_columns(&mut columns);
    vec![("kernels", columns)]
}

/// Compares every kernel with the median of kernels that do the same work.
pub fn build(kernels: &DataFrame, works: &[ShapeGroup]) -> Result<DataFrame> {
    let mut slow: Vec<SlowDispatch> = works.par_iter().flat_map_iter(slow_ones).collect();
    slow.sort_unstable_by_key(|slow| slow.row);

    let rows = IdxCa::from_vec("".into(), slow.iter().map(|slow| slow.row).collect());
    let taken = OF_DISPATCH.iter().chain(&SHAPE);
    let names: Vec<&str> =
        taken.filter(|name| !PASSTHROUGH.contains(name) || kernels.column(name).is_ok()).copied().collect();
    let mut frame = kernels.select(names)?.take(&rows)?;
    frame.rename("start_ns", "time_ns".into())?;
    frame.rename("duration_ns", "took_ns".into())?;
    let floats = |name: &str, of: fn(&SlowDispatch) -> f64| floats(name, slow.iter().map(|slow| Some(of(slow))));
    let firsts = IdxCa::from_vec("".into(), slow.iter().map(|slow| slow.first).collect());
    let firsts = kernels.column("dispatch_id")?.take(&firsts)?.with_name("first_dispatch_id".into());
    frame.hstack_mut(&[
        firsts,
        column("ordinal", slow.iter().map(|slow| slow.ordinal).collect()),
        column("calls", slow.iter().map(|slow| slow.calls).collect()),
        floats("median_ns", |slow| slow.spread.median_ns),
        floats("mad_ns", |slow| slow.spread.mad_ns),
        floats("excess_ns", |slow| slow.excess_ns),
        floats("robust_z", |slow| slow.z),
    ])?;
    Ok(frame)
}

fn slow_ones(work: &ShapeGroup) -> Vec<SlowDispatch> {
    let bounds = &Thresholds::builtin().slow_dispatches;
    if !work.is_comparable || work.rows.len() < bounds.min_calls {
        return Vec::new();
    }
    let spread = Spread::compute(&mut work.durations.clone());
    let Some((spread, first)) = spread.zip(work.rows.first().copied()) else { return Vec::new() };
    let calls = i64::try_from(work.rows.len()).unwrap_or(i64::MAX);
    let slow = |((ordinal, row), duration): ((i64, &u32), &i64)| {
        let z = spread.robust_z(*duration);
        (z >= bounds.min_z).then_some(SlowDispatch {
            row: *row,
            first,
            ordinal,
            calls,
            spread,
            excess_ns: *duration as f64 - spread.median_ns,
            z,
        })
    };
    (1..).zip(&work.rows).zip(&work.durations).filter_map(slow).collect()
}

//! The table `iteration_kernels`: the time of each kernel in each repetition.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use super::repetition_of::Repetitions;
use crate::columns::frames::dictionary_column;
use crate::columns::values::FrameValues;
use crate::derive::repeating::{iterations, units};
use crate::derive::{Build, DerivedTable, Frames, Needs, Rows, RowsWhen, WhyEmpty, column, needed};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::Events,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    why_empty: WhyEmpty::Because(iterations::NO_UNITS),
    ..DerivedTable::new(&tables::features::ITERATION_KERNELS, needs, Build::Alone(build))
};

fn needs() -> Needs {
    units::merged([units::needs(), vec![("kernels", vec!["kernel_id", "kernel_name", "category"])]])
}

/// Sums of a kernel within a repetition.
struct Sum {
    /// Row of the first dispatch.
    row: IdxSize,
    calls: i64,
    total_ns: i64,
    min_ns: i64,
    max_ns: i64,
    first_ns: i64,
}

/// Adds up the dispatches of each kernel by the repetition that they start in.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let (kernels, _) = tables.kernel_order()?.of_valid(needed(tables, "kernels")?)?;
    let repetitions = Repetitions::find(tables)?;
    let [starts, ends, ids] = kernels.integers(["start_ns", "end_ns", "kernel_id"])?;
    let mut sums: BTreeMap<(usize, i64), Sum> = BTreeMap::new();
    for (row, start, end, id) in izip!(0.., starts.iter(), ends.iter(), ids.iter()) {
        let (Some(start_ns), Some(end_ns), Some(id)) = (start, end, id) else { continue };
        let Some(place) = repetitions.at(start_ns) else { continue };
        let duration_ns = end_ns.saturating_sub(start_ns);
        let none = Sum { row, calls: 0, total_ns: 0, min_ns: i64::MAX, max_ns: 0, first_ns: i64::MAX };
        let sum = sums.entry((place, id)).or_insert(none);
        sum.calls = sum.calls.saturating_add(1);
        sum.total_ns = sum.total_ns.saturating_add(duration_ns);
        (sum.min_ns, sum.max_ns) = (sum.min_ns.min(duration_ns), sum.max_ns.max(duration_ns));
        sum.first_ns = sum.first_ns.min(start_ns);
    }
    let of = |place: usize| repetitions.all.get(place).map_or((0, 0), |one| (one.start_ns, one.end_ns));
    let whole = |name, value: &dyn Fn(usize, &Sum) -> i64| {
        column(name, sums.iter().map(|((place, _), sum)| value(*place, sum)).collect())
    };
    let rows = IdxCa::from_vec("".into(), sums.values().map(|sum| sum.row).collect());
    let phases = sums.keys().map(|(place, _)| repetitions.phase(*place));
    let mut frame = DataFrame::new_infer_height(vec![
        whole("iteration", &|place, _| i64::try_from(place).unwrap_or(i64::MAX)),
        dictionary_column("phase", &Repetitions::words(), phases)?,
    ])?;
    frame.hstack_mut(kernels.select(["kernel_id", "kernel_name", "category"])?.take(&rows)?.columns())?;
    frame.hstack_mut(&[
        whole("calls", &|_, sum| sum.calls),
        whole("total_ns", &|_, sum| sum.total_ns),
        whole("min_ns", &|_, sum| sum.min_ns),
        whole("max_ns", &|_, sum| sum.max_ns),
        whole("first_ns", &|place, sum| sum.first_ns.saturating_sub(of(place).0)),
        whole("iteration_ns", &|place, _| of(place).1.saturating_sub(of(place).0)),
    ])?;
    Ok(frame)
}

//! The table `dispatch_groups`: stability of dispatches of the same work.

use anyhow::Result;
use polars::prelude::*;
use rayon::prelude::*;

use crate::columns::frames::{floats, integers, texts};
use crate::derive::steadiness::launch_shapes::{INPUTS, Place, SHAPE, ShapeGroup, add_group_columns};
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
    add_group_columns(&mut columns);
    vec![("kernels", columns)]
}

/// Summarizes the groups of kernels that do the same work.
pub fn build(kernels: &DataFrame, works: &[ShapeGroup]) -> Result<DataFrame> {
    let inspected: Vec<Option<Inspected>> = works.par_iter().map(inspect).collect();
    let groups: Vec<Inspected> = inspected.into_iter().flatten().collect();
    let before = groups.iter().map(|group| match group.place {
        Some(Place::After(row)) => Some(row),
        _ => None,
    });
    let before: IdxCa = before.collect_ca("".into());
    let before = kernels.column("kernel_name")?.take(&before)?.cast(&DataType::String)?;
    let place = |(group, before): (&Inspected, Option<&str>)| match group.place? {
        Place::After(_) => before.map(|name| format!("after {name}")),
        Place::Node(node) => Some(format!("graph node {node}")),
    };
    let places: Vec<Option<String>> = groups.iter().zip(before.str()?.iter()).map(place).collect();

    let firsts = IdxCa::from_vec("".into(), groups.iter().map(|group| group.first).collect());
    let mut names = OF_FIRST.to_vec();
    names.extend(SHAPE);
    names.push(INPUTS);
    let mut frame = kernels.select(names)?.take(&firsts)?;
    frame.rename("dispatch_id", "first_dispatch_id".into())?;
    let drifts = || groups.iter().map(|group| group.comparable()?.drift);
    let modes = || groups.iter().map(|group| group.comparable()?.modes);
    let starts = kernels.column("start_ns")?.take(&firsts)?.with_name("first_start_ns".into());
    frame.hstack_mut(&[
        texts("position", places.iter().map(Option::as_deref)),
        starts,
        column("calls", groups.iter().map(|group| group.calls).collect()),
        column("total_ns", groups.iter().map(|group| group.steadiness.total_ns).collect()),
        floats("median_ns", groups.iter().map(|group| Some(group.steadiness.spread.median_ns))),
        floats("mad_ns", groups.iter().map(|group| Some(group.steadiness.spread.mad_ns))),
        column("first_ns", groups.iter().map(|group| group.steadiness.first_ns).collect()),
        floats("rest_median_ns", groups.iter().map(|group| group.comparable()?.rest_median_ns)),
        floats("early_median_ns", drifts().map(|drift| drift.map(|drift| drift.early_ns))),
        floats("late_median_ns", drifts().map(|drift| drift.map(|drift| drift.late_ns))),
        floats("drift_noise_ns", drifts().map(|drift| drift.map(|drift| drift.noise_ns))),
        floats("jitter_ns", groups.iter().map(|group| group.comparable()?.jitter_ns)),
        floats("low_mode_ns", modes().map(|modes| modes.map(|modes| modes.low_ns))),
        floats("high_mode_ns", modes().map(|modes| modes.map(|modes| modes.high_ns))),
        integers("high_mode_calls", modes().map(|modes| modes.map(|modes| modes.high_calls))),
        floats("mode_gap", modes().map(|modes| modes.map(|modes| modes.gap))),
    ])?;
    Ok(frame)
}

/// A group, its first row and the facts about its durations.
struct Inspected {
    first: u32,
    calls: i64,
    place: Option<Place>,
    is_comparable: bool,
    steadiness: Steadiness,
}

impl Inspected {
    /// The facts that compare its dispatches, if these are known to do the same work.
    fn comparable(&self) -> Option<&Steadiness> {
        Some(&self.steadiness).filter(|_| self.is_comparable)
    }
}

fn inspect(work: &ShapeGroup) -> Option<Inspected> {
    Some(Inspected {
        first: *work.rows.first()?,
        calls: i64::try_from(work.rows.len()).unwrap_or(i64::MAX),
        place: work.place,
        is_comparable: work.is_comparable,
        steadiness: Steadiness::compute(&work.durations)?,
    })
}

//! The table `dispatch_groups`: stability of dispatches of the same work.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;
use rayon::prelude::*;

use crate::columns::frames::{floats, integers, texts};
use crate::columns::values::{FrameValues, I64Values};
use crate::derive::steadiness::launch_shapes::{INPUTS, Place, SHAPE, ShapeGroup, add_group_columns};
use crate::derive::steadiness::same_work;
use crate::derive::{Build, DerivedTable, Needs, RowsWhen, column};
use wavesieve_model::analysis::kernel_names::{DIFFERENCES, position_after};
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
    let places = labels_of_places(kernels, &groups)?;

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

/// Work before the dispatches of a group: its name, and in what other work of the name may differ.
struct Before {
    name: String,
    details: [Option<String>; DIFFERENCES.len()],
}

fn work_before(kernels: &DataFrame, groups: &[Inspected]) -> Result<Vec<Option<Before>>> {
    let rows = || groups.iter().map(Inspected::row_before);
    let before: IdxCa = rows().collect_ca("".into());
    let texts_of = |name: &str| kernels.column(name)?.take(&before)?.cast(&DataType::String);
    let (names, inputs) = (texts_of("kernel_name")?, texts_of(INPUTS)?);
    let sides: Vec<I64Values> = SHAPE.iter().map(|side| kernels.integer(side)).collect::<PolarsResult<_>>()?;
    let (grid, workgroup) = sides.split_at(SHAPE.len() / 2);
    let size = |sides: &[I64Values], row: u32| -> Option<String> {
        let sides: Option<Vec<i64>> = sides.iter().map(|side| side.get(row as usize)).collect();
        Some(sides?.iter().map(i64::to_string).collect::<Vec<String>>().join("x"))
    };
    let before = |((row, name), inputs): ((Option<u32>, Option<&str>), Option<&str>)| {
        let row = row?;
        let [of_grid, of_workgroup, of_inputs] = DIFFERENCES;
        let details = [
            size(grid, row).map(|size| format!("{of_grid} {size}")),
            size(workgroup, row).map(|size| format!("{of_workgroup} {size}")),
            inputs.map(|inputs| format!("{of_inputs} {inputs}")),
        ];
        Some(Before { name: name?.to_owned(), details })
    };
    Ok(rows().zip(names.str()?.iter()).zip(inputs.str()?.iter()).map(before).collect())
}

/// Labels of the places of groups. Work of one name before groups of the same work is labeled with its differences too.
fn labels_of_places(kernels: &DataFrame, groups: &[Inspected]) -> Result<Vec<Option<String>>> {
    let all = work_before(kernels, groups)?;
    let mut alike: BTreeMap<(usize, &str), Vec<&Before>> = BTreeMap::new();
    for (group, before) in groups.iter().zip(&all) {
        if let Some(before) = before {
            alike.entry((group.work, before.name.as_str())).or_default().push(before);
        }
    }
    let label = |(group, before): (&Inspected, &Option<Before>)| match group.place? {
        Place::After(_) => {
            let before = before.as_ref()?;
            let others = alike.get(&(group.work, before.name.as_str()))?;
            let differs = |(at, detail): &(usize, &Option<String>)| {
                others.iter().any(|other| other.details.get(*at) != Some(*detail))
            };
            let differences = before.details.iter().enumerate().filter(differs);
            let differences: Vec<&str> = differences.filter_map(|(_, detail)| detail.as_deref()).collect();
            Some(position_after(&before.name, &differences))
        }
        Place::Node(node) => Some(format!("graph node {node}")),
    };
    Ok(groups.iter().zip(&all).map(label).collect())
}

/// A group, its first row and the facts about its durations.
struct Inspected {
    work: usize,
    first: u32,
    calls: i64,
    place: Option<Place>,
    is_comparable: bool,
    steadiness: Steadiness,
}

impl Inspected {
    /// The dispatch before the first one, if the place is behind it.
    fn row_before(&self) -> Option<u32> {
        match self.place {
            Some(Place::After(row)) => Some(row),
            _ => None,
        }
    }

    /// The facts that compare its dispatches, if these are known to do the same work.
    fn comparable(&self) -> Option<&Steadiness> {
        Some(&self.steadiness).filter(|_| self.is_comparable)
    }
}

fn inspect(work: &ShapeGroup) -> Option<Inspected> {
    Some(Inspected {
        work: work.work,
        first: *work.rows.first()?,
        calls: i64::try_from(work.rows.len()).unwrap_or(i64::MAX),
        place: work.place,
        is_comparable: work.is_comparable,
        steadiness: Steadiness::compute(&work.durations)?,
    })
}

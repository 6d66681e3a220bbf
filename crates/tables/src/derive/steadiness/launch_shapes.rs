//! Dispatches that do the same work: one kernel on one GPU with the same grid and workgroup, the same inputs or message if these are
//! recorded, and at the same place if that decides how long they take. This is the only definition of it.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categorical, rows_named};
use crate::columns::values::{BoolValues, FrameValues, I64Values};
use crate::derive::launching::kernel_order::KernelOrder;
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::analysis::numbering::dense_groups::DenseGroups;
use wavesieve_model::analysis::statistics::medians::median;
use wavesieve_model::analysis::thresholds::Thresholds;

/// The columns that identify the launch shape of a dispatch.
pub const SHAPE: [&str; 6] = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"];
/// Column of the recorded inputs or message, see [`kernels_with_messages`](super::recorded_messages::kernels_with_messages).
pub const INPUTS: &str = "inputs";

/// Adds the columns of kernels that groups are made of.
pub fn add_group_columns(columns: &mut Vec<&'static str>) {
    let own = ["kernel_name", "category", "gpu", "stream_id", "start_ns", "duration_ns", "valid", "dispatch_id"];
    for name in own.into_iter().chain(SHAPE).chain([INPUTS, "graph_node_id", "correlation_id"]) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
}

/// Place of the dispatches of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Behind the work of the dispatch in this row.
    After(u32),
    /// At this node of a graph.
    Node(i64),
}

/// Rows of the same work, in the order of their starts, and their durations.
pub struct ShapeGroup {
    /// Number of the work, which groups at different places share.
    pub work: usize,
    /// Rows in the table of kernels.
    pub rows: Vec<u32>,
    pub durations: Vec<i64>,
    /// Their place, if places decide how long they take.
    pub place: Option<Place>,
    /// Whether they are known to do the same work. They are not if shape or inputs of other dispatches of the kernel are recorded.
    pub is_comparable: bool,
}

/// Dispatches by the work they do, the basis of all tables about the same work.
pub(crate) struct ShapeGroups<'a> {
    kernels: &'a DataFrame,
    kinds: DenseGroups,
    /// Whether the shape of a dispatch, or its inputs, are not recorded although those of others of its kernel are; empty without such.
    is_unknown: [Vec<bool>; 2],
    order: KernelOrder,
}

/// Places of dispatches, by row: the code of the place, and the row of the dispatch before.
struct Places {
    codes: Vec<i64>,
    before: Vec<u32>,
    nodes: I64Values,
}

impl<'a> ShapeGroups<'a> {
    /// The groups of a table of kernels in the given order; it needs the columns of [`add_group_columns`].
    pub fn new(kernels: &'a DataFrame, order: KernelOrder) -> Result<Self> {
        let codes = |name: &str| -> Result<Vec<Option<i64>>> {
            let texts = kernels.column(name)?.as_materialized_series().cast(&categorical())?;
            Ok(texts.cat32()?.physical().iter().map(|code| code.map(i64::from)).collect())
        };
        let kinds = DenseGroups::from_values(codes("kernel_name")?.into_iter());
        let of_kernels = kinds.and(&kernels.integer("gpu")?.kinds());
        let mut kinds = of_kernels.clone();
        for side in SHAPE {
            let side = kernels.integer(side)?;
            let sides = || side.iter().map(|side| Some(side.unwrap_or_default()));
            kinds = if side.present().is_none() { kinds.and(&side.kinds()) } else { kinds.and_of(sides()) };
        }
        let inputs = kernels.column(INPUTS)?;
        if inputs.null_count() < inputs.len() {
            kinds = kinds.and_of(codes(INPUTS)?.into_iter());
        }
        // A workgroup is never empty.
        let sizes = kernels.integer("workgroup_x")?;
        let has_size = sizes.iter().map(|size| size.is_some_and(|size| size > 0)).collect();
        let has_inputs = inputs.is_not_null();
        let known = [has_size, has_inputs.iter().map(|has| has == Some(true)).collect()];
        let is_unknown = known.map(|known: Vec<bool>| lacking(&of_kernels, &known));
        Ok(Self { kernels, kinds, is_unknown, order })
    }

    /// The valid dispatches by the work they do, in the order in which the first of each work is recorded.
    pub(crate) fn by_work(&self) -> Result<Vec<ShapeGroup>> {
        self.gathered(&self.kinds)
    }

    /// The same, with communication kernels also distinguished by stream. Collectives of different communicators move
    /// different amounts on their own streams, and look alike otherwise. `None` if streams distinguish nothing further.
    pub(crate) fn by_work_and_communicator(&self) -> Result<Option<Vec<ShapeGroup>>> {
        let communicates = rows_named(self.kernels.column("category")?, |category| category == COMMUNICATION)?;
        if !communicates.any() {
            return Ok(None);
        }
        let streams = self.kernels.integer("stream_id")?;
        let communicates = BoolValues::new(&communicates);
        let counted = streams.iter().zip(communicates.iter());
        let counted = counted.map(|(stream, communicates)| stream.filter(|_| communicates == Some(true)));
        let kinds = self.kinds.clone().and_of(counted);
        if kinds.count == self.kinds.count { Ok(None) } else { self.gathered(&kinds).map(Some) }
    }

    /// The median duration of the work of each dispatch, by row; its own duration if it is not comparable or not valid.
    pub(crate) fn usual_ns(&self) -> Result<Vec<i64>> {
        let durations = self.kernels.integer("duration_ns")?;
        let mut usual: Vec<i64> = durations.iter().map(Option::unwrap_or_default).collect();
        for mut group in self.by_work()?.into_iter().filter(|group| group.is_comparable) {
            let Some(median_ns) = median(&mut group.durations) else { continue };
            for row in group.rows {
                if let Some(slot) = usual.get_mut(row as usize) {
                    *slot = median_ns as i64;
                }
            }
        }
        Ok(usual)
    }

    fn gathered(&self, kinds: &DenseGroups) -> Result<Vec<ShapeGroup>> {
        let durations = self.kernels.integer("duration_ns")?;
        let valid = self.kernels.truths("valid")?;
        let is_named = self.kernels.column("kernel_name")?.is_not_null();
        let chosen = valid.iter().zip(is_named.iter());
        let (works, count) = kinds.of_chosen(chosen.map(|(valid, named)| valid == Some(true) && named == Some(true)));
        let mut sizes = vec![0_usize; count];
        for work in works.iter().flatten() {
            if let Some(size) = sizes.get_mut(*work as usize) {
                *size += 1;
            }
        }
        let empty = |(work, size): (usize, &usize)| ShapeGroup {
            work,
            rows: Vec::with_capacity(*size),
            durations: Vec::with_capacity(*size),
            place: None,
            is_comparable: true,
        };
        let mut gathered: Vec<ShapeGroup> = sizes.iter().enumerate().map(empty).collect();
        for row in self.order.rows() {
            let at = row as usize;
            let Some(Some(work)) = works.get(at) else { continue };
            if let Some(same) = gathered.get_mut(*work as usize) {
                same.rows.push(row);
                same.durations.push(durations.get(at).unwrap_or_default());
            }
        }
        for group in &mut gathered {
            let is_unknown = |row: &u32| self.is_unknown.iter().any(|of| of.get(*row as usize) == Some(&true));
            group.is_comparable = !group.rows.first().is_some_and(is_unknown);
        }
        let places = self.places()?;
        Ok(gathered.into_iter().flat_map(|group| group.by_place(&places)).collect())
    }

    /// The place of each dispatch: the node of its graph if that is recorded, otherwise the work that started last before it on its GPU,
    /// which is its own for the first one.
    fn places(&self) -> Result<Places> {
        let gpus = self.kernels.integer("gpu")?.kinds();
        let nodes = self.kernels.integer("graph_node_id")?;
        let mut last: Vec<Option<u32>> = vec![None; gpus.count];
        let mut codes: Vec<i64> = self.kinds.of_rows.iter().map(|kind| i64::from(*kind)).collect();
        let mut before: Vec<u32> = (0..codes.len() as u32).collect();
        for row in self.order.rows() {
            let at = row as usize;
            let Some(slot) = gpus.of_rows.get(at).and_then(|gpu| last.get_mut(*gpu as usize)) else { continue };
            if let (Some(earlier), Some(code), Some(before)) = (*slot, codes.get_mut(at), before.get_mut(at)) {
                *before = earlier;
                *code = self.kinds.of_rows.get(earlier as usize).map_or(*code, |kind| i64::from(*kind));
            }
            *slot = Some(row);
        }
        // Codes of work are not negative.
        for (code, node) in codes.iter_mut().zip(nodes.iter()) {
            *code = node.map_or(*code, |node| -1 - node.max(0));
        }
        Ok(Places { codes, before, nodes })
    }
}

impl ShapeGroup {
    /// The groups of dispatches at the same place if places decide how long they take; otherwise all of them.
    fn by_place(self, places: &Places) -> Vec<Self> {
        let bounds = &Thresholds::builtin().same_work;
        if self.rows.len() < 2 * bounds.least_at_place || !self.is_comparable {
            return vec![self];
        }
        let mut by_code: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            by_code.entry(places.codes.get(*row as usize).copied().unwrap_or_default()).or_default().push(at);
        }
        let (mut placed, others): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
            by_code.into_values().partition(|place| place.len() >= bounds.least_at_place);
        let others: Vec<usize> = others.into_iter().flatten().collect();
        if placed.len() < 2 || (self.rows.len() - others.len()) * 100 < bounds.least_placed_pct * self.rows.len() {
            return vec![self];
        }
        let of =
            |places: &[usize]| places.iter().filter_map(|at| self.durations.get(*at)).map(|ns| *ns as f64).collect();
        let all = distances(self.durations.iter().map(|ns| *ns as f64).collect());
        let left: f64 = placed.iter().map(|place| distances(of(place))).sum::<f64>() + distances(of(&others));
        if all <= 0.0 || left > bounds.most_left * all {
            return vec![self];
        }
        let elsewhere = others.iter().copied().min();
        placed.push(others);
        placed.retain(|place| !place.is_empty());
        placed.iter_mut().for_each(|place| place.sort_unstable());
        placed.sort_unstable();
        let chosen = |values: &[i64], place: &[usize]| place.iter().filter_map(|at| values.get(*at)).copied().collect();
        let rows = |place: &[usize]| place.iter().filter_map(|at| self.rows.get(*at)).copied().collect();
        let named = |place: &[usize]| {
            let row = *self.rows.get(*place.first().filter(|first| elsewhere != Some(**first))?)? as usize;
            places.nodes.get(row).map(Place::Node).or_else(|| places.before.get(row).copied().map(Place::After))
        };
        let group = |place: &Vec<usize>| Self {
            work: self.work,
            rows: rows(place),
            durations: chosen(&self.durations, place),
            place: named(place),
            is_comparable: true,
        };
        placed.iter().map(group).collect()
    }
}

/// Rows without a value although other rows of their kind have one; empty if there are none.
fn lacking(kinds: &DenseGroups, known: &[bool]) -> Vec<bool> {
    let mut has_some = vec![false; kinds.count];
    let mut lacks_some = false;
    for (kind, known) in kinds.of_rows.iter().zip(known) {
        lacks_some |= !known;
        if let Some(slot) = has_some.get_mut(*kind as usize).filter(|_| *known) {
            *slot = true;
        }
    }
    if !lacks_some || !has_some.contains(&true) {
        return Vec::new();
    }
    let has_other = |kind: u32| has_some.get(kind as usize) == Some(&true);
    kinds.of_rows.iter().zip(known).map(|(kind, known)| !known && has_other(*kind)).collect()
}

/// Sum of the distances from the median.
fn distances(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    let median = *values.select_nth_unstable_by(middle, f64::total_cmp).1;
    values.iter().map(|value| (value - median).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(durations: &[i64], before: &[u32]) -> Vec<Vec<i64>> {
        let rows = (0..durations.len() as u32).collect();
        let group = ShapeGroup { work: 0, rows, durations: durations.to_vec(), place: None, is_comparable: true };
        let places = Places {
            codes: before.iter().map(|kind| i64::from(*kind)).collect(),
            before: before.to_vec(),
            nodes: I64Values::new(&Int64Chunked::full_null("".into(), durations.len())),
        };
        group.by_place(&places).into_iter().map(|group| group.durations).collect()
    }

    #[test]
    fn places_separate_only_if_they_decide() {
        let alternating: Vec<i64> = (0..40).map(|at| if at % 2 == 0 { 800 + at } else { 250 + at }).collect();
        let places: Vec<u32> = (0..40).map(|at| at % 2).collect();
        assert_eq!(groups(&alternating, &places).len(), 2);
        // The same durations in no relation to the places, and places that make no difference.
        let others: Vec<u32> = (0..40).map(|at| at / 2 % 2).collect();
        assert_eq!(groups(&alternating, &others), std::slice::from_ref(&alternating));
        let even: Vec<i64> = (0..40).map(|at| 500 + at * 7 % 11).collect();
        assert_eq!(groups(&even, &places), [even]);
        // A few outliers at one place are outliers.
        let outliers: Vec<i64> = (0..40).map(|at| if at % 16 == 0 { 900 } else { 500 + at % 3 }).collect();
        assert_eq!(groups(&outliers, &places), [outliers]);
        assert_eq!(groups(&alternating[..9], &places), [alternating[..9].to_vec()]);
    }
}

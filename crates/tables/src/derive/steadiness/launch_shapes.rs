//! Dispatches that do the same work: one kernel on one GPU with the same grid and workgroup, at the same place if that decides how long they
//! take.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categorical, rows_named};
use crate::columns::values::{BoolValues, FrameValues};
use crate::derive::launching::kernel_order::KernelOrder;
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::analysis::numbering::dense_groups::DenseGroups;

/// The columns that identify the work of a dispatch, in addition to the name of the kernel and the GPU.
pub const SHAPE: [&str; 6] = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"];

/// Fewest dispatches at one place that are compared with one another.
const LEAST_AT_PLACE: usize = 5;
/// Share of dispatches that must be at such places, in percent.
const LEAST_PLACED_PCT: usize = 90;
/// Places decide how long dispatches take if the distances from the medians of the places add up to at most this part of those from the
/// median of all.
const MOST_LEFT: f64 = 0.5;

/// Rows of the same work, in the order of their starts, and their durations.
pub struct ShapeGroup {
    /// Rows in the table of kernels.
    pub rows: Vec<u32>,
    pub durations: Vec<i64>,
}

/// Dispatches by the work they do, the basis of both tables about the same work.
pub(crate) struct ShapeGroups<'a> {
    kernels: &'a DataFrame,
    kinds: DenseGroups,
    order: KernelOrder,
}

impl<'a> ShapeGroups<'a> {
    /// The groups of a table of kernels in the given order; it needs their names, GPUs, [`SHAPE`] and durations.
    pub fn new(kernels: &'a DataFrame, order: KernelOrder) -> Result<Self> {
        let names = kernels.column("kernel_name")?.as_materialized_series().cast(&categorical())?;
        let mut kinds = DenseGroups::from_values(names.cat32()?.physical().iter().map(|code| code.map(i64::from)));
        kinds = kinds.and(&kernels.integer("gpu")?.kinds());
        for side in SHAPE {
            let side = kernels.integer(side)?;
            let sides = || side.iter().map(|side| Some(side.unwrap_or_default()));
            kinds = if side.present().is_none() { kinds.and(&side.kinds()) } else { kinds.and_of(sides()) };
        }
        Ok(Self { kernels, kinds, order })
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
        let empty = |size: &usize| ShapeGroup { rows: Vec::with_capacity(*size), durations: Vec::with_capacity(*size) };
        let mut gathered: Vec<ShapeGroup> = sizes.iter().map(empty).collect();
        for row in self.order.rows() {
            let at = row as usize;
            let Some(Some(work)) = works.get(at) else { continue };
            if let Some(same) = gathered.get_mut(*work as usize) {
                same.rows.push(row);
                same.durations.push(durations.get(at).unwrap_or_default());
            }
        }
        let before = self.kinds_before()?;
        Ok(gathered.into_iter().flat_map(|group| group.by_place(&before)).collect())
    }

    /// The kind of the dispatch that started last before each on its GPU, by row; that of the row itself for the first one.
    fn kinds_before(&self) -> Result<Vec<u32>> {
        let gpus = self.kernels.integer("gpu")?.kinds();
        let mut last: Vec<Option<u32>> = vec![None; gpus.count];
        let mut before = self.kinds.of_rows.clone();
        for row in self.order.rows() {
            let at = row as usize;
            let gpu = gpus.of_rows.get(at).and_then(|gpu| last.get_mut(*gpu as usize));
            let (Some(last), Some(kind)) = (gpu, self.kinds.of_rows.get(at)) else { continue };
            if let (Some(kind), Some(slot)) = (*last, before.get_mut(at)) {
                *slot = kind;
            }
            *last = Some(*kind);
        }
        Ok(before)
    }
}

impl ShapeGroup {
    /// The groups of dispatches at the same place, which is behind the same work, if places decide how long they take; otherwise all of them.
    fn by_place(self, before: &[u32]) -> Vec<Self> {
        if self.rows.len() < 2 * LEAST_AT_PLACE {
            return vec![self];
        }
        let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            places.entry(before.get(*row as usize).copied().unwrap_or_default()).or_default().push(at);
        }
        let (mut placed, others): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
            places.into_values().partition(|place| place.len() >= LEAST_AT_PLACE);
        let others: Vec<usize> = others.into_iter().flatten().collect();
        if placed.len() < 2 || (self.rows.len() - others.len()) * 100 < LEAST_PLACED_PCT * self.rows.len() {
            return vec![self];
        }
        let of =
            |places: &[usize]| places.iter().filter_map(|at| self.durations.get(*at)).map(|ns| *ns as f64).collect();
        let all = distances(self.durations.iter().map(|ns| *ns as f64).collect());
        let left: f64 = placed.iter().map(|place| distances(of(place))).sum::<f64>() + distances(of(&others));
        if all <= 0.0 || left > MOST_LEFT * all {
            return vec![self];
        }
        placed.push(others);
        placed.retain(|place| !place.is_empty());
        placed.iter_mut().for_each(|place| place.sort_unstable());
        placed.sort_unstable();
        let chosen = |values: &[i64], place: &[usize]| place.iter().filter_map(|at| values.get(*at)).copied().collect();
        let rows = |place: &[usize]| place.iter().filter_map(|at| self.rows.get(*at)).copied().collect();
        placed.iter().map(|place| Self { rows: rows(place), durations: chosen(&self.durations, place) }).collect()
    }
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
        let group = ShapeGroup { rows, durations: durations.to_vec() };
        group.by_place(before).into_iter().map(|group| group.durations).collect()
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

//! The kernels of each GPU of a process: sums of their dispatches, and their order in a typical unit.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::kernel_calls::{Dispatch, KernelCalls};
use super::model::KernelDigest;
use super::units::unit_at;
use wavesieve_model::analysis::queues::order::start_order;
use wavesieve_model::text::fnv::fnv1a;
use wavesieve_tables::columns::frames::{categorical, values_by_text};
use wavesieve_tables::columns::values::{BoolValues, I64Values};

/// Grid and workgroup.
pub(super) const SHAPE: [&str; 6] = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"];
/// Recorded inputs of a dispatch.
pub(super) const INPUTS: &str = "inputs";
/// Bits of the numbers for inputs: a digest holds no larger ones.
const MAX_INPUTS: u64 = (1 << 55) - 1;
/// Maximum number of kernels of a unit for which a sequence is kept.
const MAX_SEQUENCE: usize = 20_000;

/// The kept digests of the kernels of a GPU.
#[derive(Default)]
pub(super) struct OfGpu {
    /// In the order of their names.
    pub kernels: Vec<KernelDigest>,
    /// Dispatches in each unit.
    pub per_unit: Vec<i64>,
    /// The kernels of a typical unit one after the other, by their places in `kernels`.
    pub typical: Vec<u32>,
}

/// By GPU.
pub(super) type Kernels = BTreeMap<i64, OfGpu>;

/// Sums up the dispatches of a process.
pub(super) fn kernels(frame: &DataFrame, units: &[(i64, i64)]) -> Result<Kernels> {
    let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
    let (gpus, starts, ends) = (integers("gpu")?, integers("start_ns")?, integers("end_ns")?);
    let ids = integers("dispatch_id")?;
    let sizes = SHAPE.map(integers).into_iter().collect::<Result<Vec<I64Values>>>()?;
    let inputs = values_by_text(frame.column(INPUTS)?, |text| (fnv1a(text.as_bytes()) & MAX_INPUTS) as i64)?;
    let valid = BoolValues::new(frame.column("valid")?.bool()?).are_true();
    let names = frame.column("kernel_name")?.as_materialized_series().cast(&categorical())?;
    let names = names.cat32()?;
    let codes = names.physical().rechunk();
    let codes = codes.downcast_as_array();
    let categories = frame.column("category")?.as_materialized_series().cast(&categorical())?;
    let categories = categories.cat32()?;
    let category_codes = categories.physical().rechunk();
    let category_codes = category_codes.downcast_as_array();

    let count = frame.height();
    let order = start_order(count, |row| starts.get(row), |row| ids.get(row));
    let order: Vec<u32> = order.unwrap_or_else(|| (0..count as u32).collect());
    let mut calls: Vec<((i64, u32), u32, KernelCalls)> = Vec::new();
    let mut places: BTreeMap<(i64, u32), usize> = BTreeMap::new();
    // The kernels of each unit, by their places in `calls`.
    let mut sequences: BTreeMap<i64, Vec<Vec<u32>>> = BTreeMap::new();
    for row in order.into_iter().map(|row| row as usize) {
        let (Some(gpu), Some(start_ns), Some(end_ns)) = (gpus.get(row), starts.get(row), ends.get(row)) else {
            continue;
        };
        let (Some(code), Some(category)) = (codes.get(row), category_codes.get(row)) else { continue };
        if !valid.get(row).unwrap_or(false) {
            continue;
        }
        let mut of_dispatch = [0; 7];
        for (size, values) in of_dispatch.iter_mut().zip(&sizes) {
            *size = values.get(row).unwrap_or_default();
        }
        let place = *places.entry((gpu, code)).or_insert(calls.len());
        if place == calls.len() {
            calls.push(((gpu, code), category, KernelCalls::default()));
        }
        let unit = unit_at(units, start_ns);
        if let Some(unit) = unit {
            let of_gpu = sequences.entry(gpu).or_insert_with(|| vec![Vec::new(); units.len()]);
            if let Some(sequence) = of_gpu.get_mut(unit as usize) {
                sequence.push(place as u32);
            }
        }
        let Some((_, _, calls)) = calls.get_mut(place) else { continue };
        let [.., of_inputs] = &mut of_dispatch;
        *of_inputs = inputs.get(row).copied().flatten().unwrap_or_default();
        calls.add(Dispatch { duration_ns: end_ns.saturating_sub(start_ns), iteration: unit, sizes: of_dispatch });
    }
    let mut numbered: BTreeMap<i64, Vec<(u32, KernelDigest)>> = BTreeMap::new();
    for (number, ((gpu, code), category, calls)) in (0_u32..).zip(calls) {
        let name = names.get_mapping().cat_to_str(code).unwrap_or_default().to_owned();
        let category = categories.get_mapping().cat_to_str(category).unwrap_or_default().to_owned();
        numbered.entry(gpu).or_default().push((number, calls.finish(name, category, units.len())));
    }
    let finish = |(gpu, mut kernels): (i64, Vec<(u32, KernelDigest)>)| {
        kernels.sort_by(|one, other| one.1.name.cmp(&other.1.name));
        let place_of: BTreeMap<u32, u32> = (0..).zip(&kernels).map(|(place, (number, _))| (*number, place)).collect();
        let sequences = sequences.remove(&gpu).unwrap_or_else(|| vec![Vec::new(); units.len()]);
        let typical = typical(&sequences, units).iter().filter_map(|number| place_of.get(number).copied()).collect();
        let per_unit = sequences.iter().map(|sequence| sequence.len() as i64).collect();
        (gpu, OfGpu { kernels: kernels.into_iter().map(|(_, kernel)| kernel).collect(), per_unit, typical })
    };
    Ok(numbered.into_iter().map(finish).collect())
}

/// The sequence of a typical unit: the unit of median duration among those with the most frequent sequence. Empty if it
/// is long.
fn typical<'a>(sequences: &'a [Vec<u32>], units: &[(i64, i64)]) -> &'a [u32] {
    let mut alike: BTreeMap<&[u32], Vec<(i64, usize)>> = BTreeMap::new();
    for (place, (sequence, (start_ns, end_ns))) in sequences.iter().zip(units).enumerate() {
        alike.entry(sequence).or_default().push((end_ns.saturating_sub(*start_ns), place));
    }
    let first = |members: &[(i64, usize)]| members.iter().map(|(_, place)| *place).min();
    let most = alike.into_values().max_by_key(|members| (members.len(), Reverse(first(members))));
    let chosen = most.and_then(|mut members| {
        members.sort_unstable();
        let (_, place) = *members.get((members.len() - 1) / 2)?;
        sequences.get(place)
    });
    chosen.map(Vec::as_slice).filter(|sequence| sequence.len() <= MAX_SEQUENCE).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typical_unit_has_the_sequence_that_most_have() {
        let sequences = vec![vec![1], vec![1, 2], vec![1, 2], vec![1, 2], vec![3]];
        let units = [(0, 10), (10, 90), (90, 100), (100, 130), (130, 140)];
        assert_eq!(typical(&sequences, &units), [1, 2]);
        assert_eq!(typical(&[], &[]), [0_u32; 0]);
    }
}

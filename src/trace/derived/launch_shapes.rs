//! Dispatches that do the same work: of one kernel on one GPU with the same grid and workgroup.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use polars::prelude::*;

use crate::trace::categories::COMMUNICATION;
use crate::trace::frames::{categorical, rows_named};
use crate::trace::values::{Integers, Truths};

/// The columns that say what work a dispatch does, beside the name of the kernel and the GPU.
pub const SHAPE: [&str; 6] = ["grid_x", "grid_y", "grid_z", "workgroup_x", "workgroup_y", "workgroup_z"];

/// GPU, stream where it counts, grid and workgroup.
type Shape = (Option<i64>, Option<i64>, [i64; 6]);

/// Rows of the same work, in the order of their starts, and their durations.
pub struct SameWork {
    /// Rows in the table of kernels.
    pub rows: Vec<u32>,
    /// Duration of each.
    pub durations: Vec<i64>,
}

/// The valid dispatches by the work they do, in the order of the first start of each work.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn by_work(kernels: &DataFrame) -> Result<Vec<SameWork>> {
    by_shape(kernels, std::iter::repeat(None))
}

/// The same, with communication kernels told apart by their streams: collectives of different communicators, which move
/// different amounts, have streams of their own and look alike otherwise.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn by_work_and_communicator(kernels: &DataFrame) -> Result<Vec<SameWork>> {
    let communicates = rows_named(kernels.column("category")?, |category| category == COMMUNICATION)?;
    let streams = Integers::of(kernels.column("stream_id")?.i64()?);
    let communicates = Truths::of(&communicates);
    by_shape(
        kernels,
        streams.iter().zip(communicates.iter()).map(|(stream, counts)| stream.filter(|_| counts == Some(true))),
    )
}

fn by_shape(kernels: &DataFrame, streams: impl Iterator<Item = Option<i64>>) -> Result<Vec<SameWork>> {
    let names = kernels.column("kernel_name")?.as_materialized_series().cast(&categorical())?;
    let names = names.cat32()?.physical().rechunk();
    let names = names.downcast_as_array();
    let gpus = Integers::of(kernels.column("gpu")?.i64()?);
    let shape = SHAPE.iter().map(|name| Ok(Integers::of(kernels.column(name)?.i64()?))).collect::<Result<Vec<_>>>()?;
    let valid = Truths::of(kernels.column("valid")?.bool()?);
    let [grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z] = shape.as_slice() else {
        anyhow::bail!("internal: a shape has six columns");
    };
    let sides = [grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z];

    let mut known: Vec<BTreeMap<Shape, u32>> = Vec::new();
    let mut last: Vec<Option<(Shape, u32)>> = Vec::new();
    let mut works: Vec<Option<u32>> = Vec::with_capacity(kernels.height());
    let mut number = 0_u32;
    let rows = names.iter().zip(gpus.iter()).zip(valid.iter()).zip(streams).enumerate();
    for (row, (((name, gpu), valid), stream)) in rows {
        let (Some(name), Some(true)) = (name.copied(), valid) else {
            works.push(None);
            continue;
        };
        let shape = (gpu, stream, sides.map(|side| side.get(row).unwrap_or_default()));
        let place = name as usize;
        if place >= known.len() {
            known.resize_with(place + 1, BTreeMap::new);
            last.resize(place + 1, None);
        }
        let (Some(known), Some(last)) = (known.get_mut(place), last.get_mut(place)) else { continue };
        let work = match last {
            Some((same, work)) if *same == shape => *work,
            _ => {
                let work = *known.entry(shape).or_insert(number);
                if work == number {
                    number = number.checked_add(1).context("more kinds of work than can be counted")?;
                }
                work
            }
        };
        *last = Some((shape, work));
        works.push(Some(work));
    }
    gathered(kernels, &works, number as usize)
}

fn gathered(kernels: &DataFrame, works: &[Option<u32>], count: usize) -> Result<Vec<SameWork>> {
    let durations = Integers::of(kernels.column("duration_ns")?.i64()?);
    let mut sizes = vec![0_usize; count];
    for work in works.iter().flatten() {
        if let Some(size) = sizes.get_mut(*work as usize) {
            *size += 1;
        }
    }
    let empty = |size: &usize| SameWork { rows: Vec::with_capacity(*size), durations: Vec::with_capacity(*size) };
    let mut gathered: Vec<SameWork> = sizes.iter().map(empty).collect();
    for row in in_order(kernels)? {
        let at = row as usize;
        let Some(Some(work)) = works.get(at) else { continue };
        if let Some(same) = gathered.get_mut(*work as usize) {
            same.rows.push(row);
            same.durations.push(durations.get(at).unwrap_or_default());
        }
    }
    Ok(gathered)
}

/// All rows in the order of their starts, then of the numbers of their dispatches.
pub fn in_order(kernels: &DataFrame) -> Result<Vec<u32>> {
    let rows = u32::try_from(kernels.height()).context("more dispatches than rows can be counted")?;
    let starts = Integers::of(kernels.column("start_ns")?.i64()?);
    let ids = Integers::of(kernels.column("dispatch_id")?.i64()?);
    let mut order: Vec<u32> = (0..rows).collect();
    if !starts.iter().zip(ids.iter()).is_sorted() {
        let keys: Vec<(Option<i64>, Option<i64>)> = starts.iter().zip(ids.iter()).collect();
        order.sort_unstable_by_key(|row| keys.get(*row as usize).copied());
    }
    Ok(order)
}

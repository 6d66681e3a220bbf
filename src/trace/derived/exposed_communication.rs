//! How much of communication nothing else hides.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::trace::cover::Cover;
use crate::trace::intervals::Interval;
use crate::trace::values::{Integers, Truths};

/// The part of each communication kernel in which no valid compute kernel runs on its GPU.
pub fn exposed_ns(found: &DataFrame, kernels: &DataFrame, communicates: &BooleanChunked) -> Result<Vec<i64>> {
    if found.height() == 0 {
        return Ok(Vec::new());
    }
    let computes = &!communicates & kernels.column("valid")?.bool()?;
    let mut by_gpu: BTreeMap<Option<i64>, Cover> = BTreeMap::new();
    for ((gpu, interval), computes) in on_gpus(kernels)?.zip(Truths::of(&computes).iter()) {
        if computes == Some(true) {
            by_gpu.entry(gpu).or_default().add(interval);
        }
    }
    let by_gpu: BTreeMap<Option<i64>, Cover> = by_gpu.into_iter().map(|(gpu, cover)| (gpu, cover.finish())).collect();
    let exposed = |(gpu, interval): (Option<i64>, Interval)| {
        let hidden_ns = by_gpu.get(&gpu).map_or(0, |cover| cover.covered_ns(interval));
        interval.length_ns().saturating_sub(hidden_ns)
    };
    Ok(on_gpus(found)?.map(exposed).collect())
}

/// GPU and time of every kernel; one without times covers nothing.
fn on_gpus(kernels: &DataFrame) -> Result<impl Iterator<Item = (Option<i64>, Interval)>> {
    let integer = |name: &str| -> Result<Integers> { Ok(Integers::of(kernels.column(name)?.i64()?)) };
    let (gpus, starts, ends) = (integer("gpu")?, integer("start_ns")?, integer("end_ns")?);
    Ok((0..kernels.height()).map(move |row| {
        let interval = Interval::new(starts.get(row).unwrap_or_default(), ends.get(row).unwrap_or_default());
        (gpus.get(row), interval)
    }))
}

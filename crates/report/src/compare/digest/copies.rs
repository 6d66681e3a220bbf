//! The copies of each GPU of a process.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use super::model::CopyDigest;
use super::units::unit_at;
use wavesieve_tables::columns::values::{BoolValues, I64Values};

/// Copies of each GPU by direction; a copy between two GPUs keeps both busy.
pub(super) fn copies(frame: &DataFrame, units: &[(i64, i64)]) -> Result<BTreeMap<i64, Vec<CopyDigest>>> {
    let integers = |name: &str| -> Result<I64Values> { Ok(I64Values::new(frame.column(name)?.i64()?)) };
    let (gpus, starts, ends) = (integers("gpu")?, integers("start_ns")?, integers("end_ns")?);
    let valid = BoolValues::new(frame.column("valid")?.bool()?);
    let directions = frame.column("direction")?.cast(&DataType::String)?;
    let peers = integers("peer_gpu")?;
    let mut sums: BTreeMap<(i64, String), CopyDigest> = BTreeMap::new();
    for (gpu, peer, start, end, valid, direction) in
        izip!(gpus.iter(), peers.iter(), starts.iter(), ends.iter(), valid.iter(), directions.str()?.iter())
    {
        let (Some(start_ns), Some(end_ns), Some(true)) = (start, end, valid) else { continue };
        for gpu in gpu.into_iter().chain(peer) {
            let sum = sums.entry((gpu, direction.unwrap_or("NONE").to_owned())).or_default();
            let add = |sum: &mut (i64, i64)| *sum = (sum.0 + 1, sum.1.saturating_add(end_ns.saturating_sub(start_ns)));
            add(&mut sum.run);
            if unit_at(units, start_ns).is_some() {
                add(&mut sum.steady);
            }
        }
    }
    let mut by_gpu: BTreeMap<i64, Vec<CopyDigest>> = BTreeMap::new();
    for ((gpu, direction), sum) in sums {
        by_gpu.entry(gpu).or_default().push(CopyDigest { direction, ..sum });
    }
    Ok(by_gpu)
}

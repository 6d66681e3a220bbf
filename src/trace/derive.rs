//! Derived tables, built from the whole source tables of one process.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use polars::prelude::*;

use super::categories::COMMUNICATION;
use super::gpu_segments::{Activity, ActivityInterval, Segment, segments};
use super::health;
use super::identity::Process;
use super::self_time::{Call, self_times};

/// Name of the operation that opens a ROCTx range of the whole process, which belongs to no thread's stack of calls.
const PROCESS_RANGE: &str = "roctxProcessRangeA";

/// The derived table of self times, which depends on where calls are cut.
pub const SELF_TIMES: &str = "region_self_times";

/// The source columns that a derived table is built from.
pub fn needs(derived: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    match derived {
        "gpu_segments" => vec![
            ("kernels", vec!["category", "gpu", "start_ns", "end_ns", "valid"]),
            ("memory_copies", vec!["gpu", "peer_gpu", "start_ns", "end_ns", "valid"]),
        ],
        SELF_TIMES => {
            vec![("regions", vec!["region_id", "name", "tid", "start_ns", "end_ns", "valid"])]
        }
        "anomalies" => health::needs(),
        _ => Vec::new(),
    }
}

/// Builds a derived table of one process, without `process` and `rank`.
///
/// # Errors
/// When a needed column is missing or has another type.
pub fn derive(name: &str, process: &Process, tables: &BTreeMap<&'static str, DataFrame>) -> Result<DataFrame> {
    match name {
        "gpu_segments" => gpu_segments(process, tables),
        SELF_TIMES => region_self_times(tables),
        other => bail!("internal: {other} is no derived table"),
    }
}

fn needed<'a>(tables: &'a BTreeMap<&'static str, DataFrame>, name: &str) -> Result<&'a DataFrame> {
    tables.get(name).with_context(|| format!("internal: {name} was not read"))
}

fn gpu_segments(process: &Process, tables: &BTreeMap<&'static str, DataFrame>) -> Result<DataFrame> {
    let mut activities = Vec::new();
    let kernels = needed(tables, "kernels")?;
    let is_communication: Vec<bool> = kernels
        .column("category")?
        .as_materialized_series()
        .equal(COMMUNICATION)?
        .iter()
        .map(|equal| equal.unwrap_or(false))
        .collect();
    for (row, (gpu, start_ns, end_ns)) in valid_intervals(kernels, "gpu")? {
        let communication = is_communication.get(row).copied().unwrap_or(false);
        let activity = if communication { Activity::Communication } else { Activity::Compute };
        activities.push(ActivityInterval { gpu, start_ns, end_ns, activity });
    }
    let copies = needed(tables, "memory_copies")?;
    for gpu_column in ["gpu", "peer_gpu"] {
        for (_, (gpu, start_ns, end_ns)) in valid_intervals(copies, gpu_column)? {
            activities.push(ActivityInterval { gpu, start_ns, end_ns, activity: Activity::Copy });
        }
    }
    let device_of: BTreeMap<i64, i64> = process.gpus.values().map(|gpu| (gpu.gpu, gpu.device)).collect();
    let rows = segments(activities);
    let each = |name: &str, value: fn(&Segment) -> i64| {
        Int64Chunked::from_iter_values(name.into(), rows.iter().map(value)).into_series().into_column()
    };
    let device = Int64Chunked::from_iter_options(
        "device".into(),
        rows.iter().map(|segment| device_of.get(&segment.gpu).copied()),
    );
    Ok(DataFrame::new_infer_height(vec![
        each("gpu", |segment| segment.gpu),
        device.into_series().into_column(),
        each("start_ns", |segment| segment.start_ns),
        each("end_ns", |segment| segment.end_ns),
        each("duration_ns", |segment| segment.end_ns.saturating_sub(segment.start_ns)),
        each("compute", |segment| segment.compute),
        each("comm", |segment| segment.comm),
        each("copies", |segment| segment.copies),
    ])?)
}

/// Row number, key, start and end.
type ValidRow = (usize, (i64, i64, i64));

/// Every valid row whose key is known.
fn valid_intervals(frame: &DataFrame, key: &str) -> Result<Vec<ValidRow>> {
    let keys = frame.column(key)?.i64()?;
    let starts = frame.column("start_ns")?.i64()?;
    let ends = frame.column("end_ns")?.i64()?;
    let valid = frame.column("valid")?.bool()?;
    Ok(keys
        .iter()
        .zip(starts.iter())
        .zip(ends.iter())
        .zip(valid.iter())
        .enumerate()
        .filter_map(|(row, (((key, start), end), valid))| match (key, start, end, valid) {
            (Some(key), Some(start), Some(end), Some(true)) => Some((row, (key, start, end))),
            _ => None,
        })
        .collect())
}

fn region_self_times(tables: &BTreeMap<&'static str, DataFrame>) -> Result<DataFrame> {
    let regions = needed(tables, "regions")?;
    let ids = regions.column("region_id")?.i64()?;
    let starts = regions.column("start_ns")?.i64()?;
    let ends = regions.column("end_ns")?.i64()?;
    let valid = regions.column("valid")?.bool()?;
    let threads = regions.column("tid")?.i64()?;
    let process_ranges = regions.column("name")?.as_materialized_series().equal(PROCESS_RANGE)?;

    let mut by_thread: BTreeMap<i64, (Vec<i64>, Vec<Call>)> = BTreeMap::new();
    let mut rows: Vec<(i64, i64)> = Vec::with_capacity(regions.height());
    let columns = ids.iter().zip(starts.iter()).zip(ends.iter()).zip(valid.iter());
    for (((((id, start), end), valid), tid), process_range) in columns.zip(threads.iter()).zip(process_ranges.iter()) {
        let (Some(id), Some(start_ns), Some(end_ns), Some(true)) = (id, start, end, valid) else { continue };
        match tid {
            Some(tid) if process_range != Some(true) => {
                let (ids, calls) = by_thread.entry(tid).or_default();
                ids.push(id);
                calls.push(Call { start_ns, end_ns });
            }
            _ => rows.push((id, end_ns.saturating_sub(start_ns))),
        }
    }
    for (ids, calls) in by_thread.into_values() {
        rows.extend(ids.into_iter().zip(self_times(&calls)));
    }
    rows.sort_unstable();
    let column = |name: &str, values: Vec<i64>| Int64Chunked::from_vec(name.into(), values).into_series().into_column();
    let (ids, self_ns) = rows.into_iter().unzip();
    Ok(DataFrame::new_infer_height(vec![column("region_id", ids), column("self_ns", self_ns)])?)
}

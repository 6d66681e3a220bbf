//! Derived tables, built from the whole source tables of one process.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use polars::prelude::*;
use rayon::prelude::*;

use super::frames::rows_named;
use super::gpu_activities;
use super::gpu_segments::{Segment, each_segment};
use super::health;
use super::identity::Process;
use super::self_time::{Call, self_times};
use super::values::{Integers, Truths};

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
    let device_of: BTreeMap<i64, i64> = process.gpus.values().map(|gpu| (gpu.gpu, gpu.device)).collect();
    let mut columns = SegmentColumns::default();
    let activities = gpu_activities::of_tables(needed(tables, "kernels")?, needed(tables, "memory_copies")?)?;
    each_segment(activities, |segment| columns.push(&segment));
    columns.into_frame(&device_of)
}

/// The columns of `gpu_segments`, filled segment by segment.
#[derive(Default)]
struct SegmentColumns {
    /// Every GPU with the number of its segments.
    gpus: Vec<(i64, usize)>,
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    compute: Vec<i64>,
    comm: Vec<i64>,
    copies: Vec<i64>,
}

impl SegmentColumns {
    fn push(&mut self, segment: &Segment) {
        match self.gpus.last_mut() {
            Some((gpu, segments)) if *gpu == segment.gpu => *segments += 1,
            _ => self.gpus.push((segment.gpu, 1)),
        }
        self.start_ns.push(segment.start_ns);
        self.end_ns.push(segment.end_ns);
        self.compute.push(segment.compute);
        self.comm.push(segment.comm);
        self.copies.push(segment.copies);
    }

    fn into_frame(self, device_of: &BTreeMap<i64, i64>) -> Result<DataFrame> {
        let gpu = repeated("gpu", self.gpus.iter().map(|(gpu, segments)| (Some(*gpu), *segments)))?;
        let devices = self.gpus.iter().map(|(gpu, segments)| (device_of.get(gpu).copied(), *segments));
        let device = repeated("device", devices)?;
        let durations = self.start_ns.iter().zip(&self.end_ns).map(|(start, end)| end.saturating_sub(*start)).collect();
        Ok(DataFrame::new_infer_height(vec![
            gpu,
            device,
            column("start_ns", self.start_ns),
            column("end_ns", self.end_ns),
            column("duration_ns", durations),
            column("compute", self.compute),
            column("comm", self.comm),
            column("copies", self.copies),
        ])?)
    }
}

/// A column of values that are each repeated a number of times; a single one takes no memory.
fn repeated(name: &str, values: impl Iterator<Item = (Option<i64>, usize)>) -> Result<Column> {
    let mut column = Column::new_empty(name.into(), &DataType::Int64);
    for (value, times) in values {
        let value = Scalar::new(DataType::Int64, value.map_or(AnyValue::Null, AnyValue::Int64));
        let part = Column::new_scalar(name.into(), value, times);
        if column.is_empty() {
            column = part;
        } else {
            column.append(&part)?;
        }
    }
    Ok(column)
}

fn column(name: &str, values: Vec<i64>) -> Column {
    Int64Chunked::from_vec(name.into(), values).into_series().into_column()
}

fn region_self_times(tables: &BTreeMap<&'static str, DataFrame>) -> Result<DataFrame> {
    let regions = needed(tables, "regions")?;
    let ids = Integers::of(regions.column("region_id")?.i64()?);
    let starts = Integers::of(regions.column("start_ns")?.i64()?);
    let ends = Integers::of(regions.column("end_ns")?.i64()?);
    let valid = Truths::of(regions.column("valid")?.bool()?);
    let threads = Integers::of(regions.column("tid")?.i64()?);
    let process_ranges = Truths::of(&rows_named(regions.column("name")?, |name| name == PROCESS_RANGE)?);

    let mut by_thread: BTreeMap<i64, ThreadCalls> = BTreeMap::new();
    let mut own_ns: Vec<i64> = Vec::with_capacity(regions.height());
    let mut region_ids: Vec<i64> = Vec::with_capacity(regions.height());
    let columns = ids.iter().zip(starts.iter()).zip(ends.iter()).zip(valid.iter());
    for (((((id, start), end), valid), tid), process_range) in columns.zip(threads.iter()).zip(process_ranges.iter()) {
        let (Some(id), Some(start_ns), Some(end_ns), Some(true)) = (id, start, end, valid) else { continue };
        if let Some(tid) = tid
            && process_range != Some(true)
        {
            let thread = by_thread.entry(tid).or_default();
            thread.places.push(u32::try_from(own_ns.len()).context("more calls than rows can be counted")?);
            thread.calls.push(Call { start_ns, end_ns });
        }
        region_ids.push(id);
        own_ns.push(end_ns.saturating_sub(start_ns));
    }
    for thread in by_thread.into_values() {
        for (place, self_ns) in thread.places.into_iter().zip(self_times(&thread.calls)) {
            if let Some(slot) = own_ns.get_mut(place as usize) {
                *slot = self_ns;
            }
        }
    }
    if !region_ids.is_sorted() {
        let mut rows: Vec<(i64, i64)> = region_ids.into_iter().zip(own_ns).collect();
        rows.par_sort_unstable();
        (region_ids, own_ns) = rows.into_iter().unzip();
    }
    Ok(DataFrame::new_infer_height(vec![column("region_id", region_ids), column("self_ns", own_ns)])?)
}

/// The calls of one thread and where their rows are.
#[derive(Default)]
struct ThreadCalls {
    places: Vec<u32>,
    calls: Vec<Call>,
}

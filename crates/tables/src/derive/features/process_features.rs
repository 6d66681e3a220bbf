//! The table `process_features`: the figures of each process in one row.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::repetition_of::Repetitions;
use crate::columns::frames::{constant_cat, integers, rows_named, texts};
use crate::columns::values::{BoolValues, FrameValues};
use crate::derive::calls::{api_calls, region_self_times};
use crate::derive::gpu_work::gpu_activities;
use crate::derive::gpu_work::gpu_times::GpuTime;
use crate::derive::launching::dispatch_launches;
use crate::derive::memory::{allocation_pairs, memory_live};
use crate::derive::repeating::periods::Iteration;
use crate::derive::repeating::units;
use crate::derive::{Build, DerivedTable, Frames, Needs, needed};
use wavesieve_model::analysis::categories::COMMUNICATION;
use wavesieve_model::analysis::statistics::medians::lower_median;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable =
    DerivedTable { ..DerivedTable::new(&tables::features::PROCESS_FEATURES, needs, Build::Alone(build)) };

/// The level of memory that is backed by a device.
const BACKED: &str = "REAL";

fn needs() -> Needs {
    let own = vec![("memory_copies", vec!["copy_id", "bytes"])];
    units::merged([own, dispatch_launches::needs(), units::needs(), api_calls::needs(), memory_live::needs()])
}

/// Names and values of integer columns; a missing value is not in the trace.
type Figures = Vec<(&'static str, Option<i64>)>;

/// Adds up the tables of a process.
fn build(process: &Process, tables: &Frames) -> Result<DataFrame> {
    let hostname = process.facts.hostname.as_deref();
    let mut columns =
        vec![constant_cat("role", Some(process.role.name()), 1)?, texts("hostname", [hostname].into_iter())];
    let identity = vec![("pid", Some(process.facts.pid))];
    let figures = [
        identity,
        of_kernels(tables)?,
        of_time(tables)?,
        of_copies(tables)?,
        of_calls(tables)?,
        of_repetitions(tables)?,
        of_memory(tables)?,
    ];
    columns.extend(figures.into_iter().flatten().map(|(name, value)| integers(name, [value].into_iter())));
    let frame = DataFrame::new_infer_height(columns)?;
    Ok(frame.select(DECLARATION.table.column_names().filter(|name| !["process", "rank"].contains(name)))?)
}

fn of_kernels(tables: &Frames) -> Result<Figures> {
    let launches = dispatch_launches::of_tables(tables, false)?;
    let [durations, ids] = launches.integers(["kernel_ns", "kernel_id"])?;
    let communicates = rows_named(launches.column("category")?, |category| category == COMMUNICATION)?;
    let communicates = BoolValues::new(&communicates).are_true();
    let communication = durations.iter().zip(&communicates).filter_map(|(duration, is)| duration.filter(|_| is));
    let different: BTreeSet<i64> = ids.iter().flatten().collect();
    let delays: Vec<i64> = launches.integer("queue_delay_ns")?.iter().flatten().collect();
    Ok(vec![
        ("kernels", Some(count(launches.height()))),
        ("different_kernels", Some(count(different.len()))),
        ("kernel_sum_ns", Some(sum(durations.iter().flatten()))),
        ("kernel_max_ns", durations.iter().flatten().max()),
        ("comm_kernels", Some(count(communicates.set_bits()))),
        ("comm_kernel_sum_ns", Some(sum(communication))),
        ("launch_delay_median_ns", lower_median(delays)),
    ])
}

/// Time of the GPUs, as in `gpu_segments`.
fn of_time(tables: &Frames) -> Result<Figures> {
    let times =
        gpu_activities::summed(needed(tables, "kernels")?, needed(tables, "memory_copies")?, &tables.kernel_order()?)?;
    let gpus: BTreeSet<i64> = times.iter().map(|time| time.gpu).collect();
    let total =
        |counts: fn(&GpuTime) -> bool| Some(sum(times.iter().filter(|time| counts(time)).map(|time| time.duration_ns)));
    Ok(vec![
        ("gpus", Some(count(gpus.len()))),
        ("span_ns", total(|_| true)),
        ("busy_ns", total(|time| time.compute || time.comm || time.copies)),
        ("idle_ns", total(|time| !(time.compute || time.comm || time.copies))),
        ("compute_ns", total(|time| time.compute)),
        ("comm_ns", total(|time| time.comm)),
        ("copy_ns", total(|time| time.copies)),
        ("exposed_comm_ns", total(|time| time.comm && !time.compute)),
        ("exposed_copy_ns", total(|time| time.copies && !time.compute && !time.comm)),
    ])
}

fn of_copies(tables: &Frames) -> Result<Figures> {
    let copies = needed(tables, "memory_copies")?;
    let [starts, ends, bytes] = copies.integers(["start_ns", "end_ns", "bytes"])?;
    let valid = copies.truths("valid")?.are_true();
    let rows = || (0..copies.height()).filter(|row| valid.get(*row) == Some(true));
    let duration = |row| Some(ends.get(row)?.saturating_sub(starts.get(row)?));
    Ok(vec![
        ("copies", Some(count(rows().count()))),
        ("copied_bytes", Some(sum(rows().filter_map(|row| bytes.get(row))))),
        ("copy_sum_ns", Some(sum(rows().filter_map(duration)))),
    ])
}

fn of_calls(tables: &Frames) -> Result<Figures> {
    let calls = api_calls::build(tables, &region_self_times::build(tables)?)?;
    let self_ns = calls.integer("self_ns")?;
    let waits = calls.truths("waits")?;
    let waited = self_ns.iter().zip(waits.iter()).filter_map(|(own, waits)| own.filter(|_| waits == Some(true)));
    Ok(vec![
        ("calls", Some(count(calls.height()))),
        ("call_self_ns", Some(sum(self_ns.iter().flatten()))),
        ("waiting_self_ns", Some(sum(waited))),
    ])
}

fn of_repetitions(tables: &Frames) -> Result<Figures> {
    let durations: Vec<i64> = Repetitions::find(tables)?.all.iter().map(Iteration::duration_ns).collect();
    Ok(vec![
        ("iterations", Some(count(durations.len()))),
        ("iteration_median_ns", lower_median(durations.clone())),
        ("iteration_max_ns", durations.iter().copied().max()),
    ])
}

fn of_memory(tables: &Frames) -> Result<Figures> {
    let memory = allocation_pairs::paired(needed(tables, "memory_allocations")?)?;
    let changes = memory.levels.iter().filter(|(level, ..)| *level == BACKED).flat_map(|(.., changes)| changes);
    let changes: Vec<_> = changes.collect();
    let mut peaks: BTreeMap<i64, i64> = BTreeMap::new();
    for change in &changes {
        let Some(gpu) = change.place else { continue };
        let peak = peaks.entry(gpu).or_insert(change.live_bytes);
        *peak = (*peak).max(change.live_bytes);
    }
    let allocated = changes.iter().map(|change| change.change_bytes).filter(|bytes| *bytes > 0);
    Ok(vec![
        ("allocations", Some(count(allocated.clone().count()))),
        ("allocated_bytes", Some(sum(allocated))),
        ("peak_bytes", (!peaks.is_empty()).then(|| sum(peaks.into_values()))),
    ])
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn sum(values: impl Iterator<Item = i64>) -> i64 {
    let total: i128 = values.map(i128::from).sum();
    i64::try_from(total).unwrap_or(if total < 0 { i64::MIN } else { i64::MAX })
}

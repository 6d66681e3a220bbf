//! `kernels` from rocpd_op and the launch records of their calls.

use anyhow::Result;
use polars::prelude::*;

use super::graphs::put_streams_and_graphs;
use super::kinds::{OpKind, grid_is_work_items};
use super::ops::{Joined, Ops, calls};
use super::reading::Reading;
use super::symbols::{KERNEL_ID_SOURCES, Symbols, kernel_ids};
use crate::common::sqlite::{Condition, Wanted, integer, text};
use crate::common::{KERNEL_NAMES, count_first, or};
use wavesieve_model::schema::anomaly::Severity;

/// Columns of launches, their source columns, and for grids the source column of the workgroup.
const LAUNCHED: [(&str, &str, Option<&str>); 8] = [
    ("workgroup_x", "workgroupX", None),
    ("workgroup_y", "workgroupY", None),
    ("workgroup_z", "workgroupZ", None),
    ("grid_x", "gridX", Some("workgroupX")),
    ("grid_y", "gridY", Some("workgroupY")),
    ("grid_z", "gridZ", Some("workgroupZ")),
    ("lds_bytes", "groupSegmentSize", None),
    ("scratch_bytes", "privateSegmentSize", None),
];
const GRIDS: &[&str] = &["grid_x", "grid_y", "grid_z"];
/// Canonical columns, and the source column that they need.
const SOURCES: &[(&[&str], &str)] = &[
    (&["agent_id", "gpu", "device"], "gpuId"),
    (&["queue_id"], "queueId"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "start"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "end"),
];

pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    let mut wanted: Vec<Wanted> = reading.sources(SOURCES).into_iter().map(integer).collect();
    if reading.wants(KERNEL_NAMES) {
        wanted.extend(KERNEL_ID_SOURCES);
    }
    let of_launch = LAUNCHED.map(|(name, _, _)| name);
    let of_call = ["correlation_id", "tid", "stream_id", "graph_exec_id"];
    let with_calls = reading.wants(KERNEL_NAMES) || reading.wants(&of_launch) || reading.wants(&of_call);
    let ops = Ops::read(reading, OpKind::Kernel, &wanted, with_calls)?;
    reading.set_height(ops.columns.height);
    let ids = ops.columns.integers("id");
    reading.put("dispatch_id", ids.clone().into_series());
    put_names(reading, &ops)?;
    let gpus = ops.columns.integers("gpuId");
    reading.put("agent_id", gpus.clone().into_series());
    reading.put_gpu(&gpus, &ids);
    reading.put("queue_id", ops.columns.integers("queueId").into_series());
    put_call(reading, &ops)?;
    put_launch(reading, &ops)?;
    reading.put_times(&ops.columns.integers("start"), &ops.columns.integers("end"));
    let apart = reading.capture.census.types_of(OpKind::Other);
    if !apart.is_empty() {
        let count = super::ops::count(reading, OpKind::Other)?.rows;
        let detail = "barriers and markers of the runtime do no work; excluded from all tables";
        reading.note("other_operation", Severity::Info, usize::try_from(count).unwrap_or(usize::MAX), None, detail);
    }
    Ok(())
}

fn put_names(reading: &mut Reading<'_>, ops: &Ops) -> Result<()> {
    if !reading.wants(KERNEL_NAMES) {
        return Ok(());
    }
    let kernels = kernel_ids(reading, ops)?;
    reading.put("kernel_id", kernels.clone().into_series());
    let symbols = Symbols::read(reading, &kernels)?;
    let unknown = "dispatches refer to a missing string, shown as kernel_<id>";
    reading.put_kernel_names_by_id(&symbols.names, &symbols.index, (&kernels, &ops.columns.integers("id")), unknown)
}

/// Adds the correlation id, which is the id of the call, and the thread of the call.
pub(crate) fn put_call(reading: &mut Reading<'_>, ops: &Ops) -> Result<()> {
    if reading.wants(&["correlation_id"]) {
        reading.put("correlation_id", ops.calls.clone().into_series());
        ops.note_orphans(reading);
    }
    if reading.wants(&["tid"]) {
        let tids = calls(reading, &[integer("tid")])?.integers("tid", &ops.calls);
        reading.put("tid", tids.into_series());
    }
    Ok(())
}

/// Adds sizes and stream from the launch records. Tasks of a graph and fills have no record: their sizes are 0.
fn put_launch(reading: &mut Reading<'_>, ops: &Ops) -> Result<()> {
    let with_grid = reading.wants(GRIDS);
    let is_needed = |name: &str, source: &str| reading.wants(&[name]) || (with_grid && source.starts_with("workgroup"));
    let needed = LAUNCHED.iter().filter(|(name, source, _)| is_needed(name, source));
    let mut wanted: Vec<Wanted> = needed.map(|(_, source, _)| integer(source)).collect();
    let with_stream = reading.wants(&["stream_id", "graph_exec_id"]);
    if with_stream {
        wanted.push(text("stream"));
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let launches = Joined::read(reading, "kernelapi", "api_ptr_id", &wanted, &Condition::all())?;
    if with_stream {
        put_streams_and_graphs(reading, &ops.calls, &launches)?;
    }
    let in_work_items = if with_grid { in_work_items(reading, ops)? } else { Vec::new() };
    for (name, source, workgroup) in LAUNCHED {
        if reading.wants(&[name]) {
            let values = launches.integers(source, &ops.calls);
            let values = match workgroup {
                Some(workgroup) => grid(&values, &launches.integers(workgroup, &ops.calls), &in_work_items),
                None if name.starts_with("workgroup") => or(&values, 0),
                None => values,
            };
            reading.put(name, values.into_series());
        }
    }
    let (count, first) = count_first(ops.calls.iter().map(|call| !launches.has(call)), &ops.columns.integers("id"));
    let detail =
        "dispatches without a launch record, such as tasks of a graph and fills; their grid and workgroup are 0";
    reading.note("missing_launch", Severity::Info, count, first, detail);
    Ok(())
}

fn grid(values: &Int64Chunked, workgroup: &Int64Chunked, in_work_items: &[bool]) -> Int64Chunked {
    values
        .iter()
        .zip(workgroup.iter())
        .zip(in_work_items)
        .map(|((grid, workgroup), in_work_items)| {
            let grid = grid.unwrap_or(0);
            Some(if *in_work_items { grid } else { grid.saturating_mul(workgroup.unwrap_or(1)) })
        })
        .collect_ca("".into())
}

/// Whether each launch gives its grid in work-items; the usual unit is the workgroup.
fn in_work_items(reading: &mut Reading<'_>, ops: &Ops) -> Result<Vec<bool>> {
    if reading.capture.census.is_sdk {
        return Ok(vec![true; ops.columns.height]);
    }
    let exceptions = reading.strings_where(grid_is_work_items)?;
    if exceptions.is_empty() {
        return Ok(vec![false; ops.columns.height]);
    }
    let names = calls(reading, &[integer("apiName_id")])?.integers("apiName_id", &ops.calls);
    Ok(names.iter().map(|name| name.is_some_and(|name| exceptions.contains(&name))).collect())
}

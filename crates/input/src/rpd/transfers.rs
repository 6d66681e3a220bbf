//! `memory_copies` from rocpd_op and the copy arguments of their calls.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use super::dispatches::put_call;
use super::graphs::put_streams_and_graphs;
use super::kinds::{OpKind, direction};
use super::ops::{Joined, Ops};
use super::reading::Reading;
use crate::common::sqlite::{Condition, Wanted, integer, text};
use crate::common::{count_first, direction_column, put_copy_gpus};
use wavesieve_model::schema::anomaly::Severity;

const PLACE: &[&str] = &["direction", "src_agent_id", "dst_agent_id", "gpu", "peer_gpu", "device"];
/// Canonical columns, and the source column that they need.
const SOURCES: &[(&[&str], &str)] = &[
    (PLACE, "gpuId"),
    (PLACE, "opType_id"),
    (PLACE, "description_id"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "start"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "end"),
];

pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    let wanted: Vec<Wanted> = reading.sources(SOURCES).into_iter().map(integer).collect();
    let of_call = ["bytes", "stream_id", "tid", "correlation_id", "graph_exec_id"];
    let with_calls = reading.wants(PLACE) || reading.wants(&of_call);
    let ops = Ops::read(reading, OpKind::Copy, &wanted, with_calls)?;
    reading.set_height(ops.columns.height);
    reading.put("copy_id", ops.columns.integers("id").into_series());
    put_call(reading, &ops)?;
    let mut wanted = Vec::new();
    if reading.wants(PLACE) {
        wanted.extend([integer("kind"), integer("srcDevice"), integer("dstDevice")]);
    }
    if reading.wants(&["bytes"]) {
        wanted.extend([integer("size"), integer("width"), integer("height")]);
    }
    if reading.wants(&["stream_id", "graph_exec_id"]) {
        wanted.push(text("stream"));
    }
    if !wanted.is_empty() {
        let arguments = Joined::read(reading, "copyapi", "api_ptr_id", &wanted, &Condition::all())?;
        put_place(reading, &ops, &arguments)?;
        put_bytes(reading, &ops, &arguments);
        put_streams_and_graphs(reading, &ops.calls, &arguments)?;
    }
    reading.put_times(&ops.columns.integers("start"), &ops.columns.integers("end"));
    Ok(())
}

/// Adds direction, agents and GPUs. Only the GPU that worked is recorded; the host is not an agent.
fn put_place(reading: &mut Reading<'_>, ops: &Ops, arguments: &Joined) -> Result<()> {
    if !reading.wants(PLACE) {
        return Ok(());
    }
    let strings = reading.strings()?;
    let kinds = arguments.integers("kind", &ops.calls);
    let (types, descriptions) = (ops.columns.integers("opType_id"), ops.columns.integers("description_id"));
    let directions: Vec<Option<&str>> = types
        .iter()
        .zip(descriptions.iter())
        .zip(kinds.iter())
        .map(|((op_type, description), kind)| {
            let text = |id| strings.get(id).unwrap_or_default();
            direction(text(op_type), text(description), kind)
        })
        .collect();
    let gpus = worked(reading, ops);
    let from = arguments.integers("srcDevice", &ops.calls);
    let to = arguments.integers("dstDevice", &ops.calls);
    let census = &reading.capture.census;
    let ends: Vec<(Option<i64>, Option<i64>)> = directions
        .iter()
        .zip(gpus.iter())
        .zip(from.iter().zip(to.iter()))
        .map(|((direction, gpu), (from, to))| match *direction {
            Some("H2D") => (None, gpu),
            Some("D2H") | None => (gpu, None),
            Some("H2H") => (None, None),
            // Only calls between two devices record them; for all others both are 0.
            _ => match (from, to) {
                (Some(from), Some(to))
                    if !census.is_sdk && from != to && [from, to].iter().all(|gpu| census.gpus.contains(gpu)) =>
                {
                    (Some(from), Some(to))
                }
                _ => (gpu, gpu),
            },
        })
        .collect();
    let source: Int64Chunked = ends.iter().map(|(source, _)| *source).collect_ca("".into());
    let destination: Int64Chunked = ends.iter().map(|(_, destination)| *destination).collect_ca("".into());
    reading.put("src_agent_id", source.clone().into_series());
    reading.put("dst_agent_id", destination.clone().into_series());
    put_copy_gpus(reading, &source, &destination);
    if reading.wants(&["direction"]) {
        let column = direction_column(reading.context.process, directions.into_iter(), &source, &destination)?;
        reading.put("direction", column);
    }
    Ok(())
}

/// The GPU of each copy. Tracers on rocprofiler-sdk write 0 for all copies, so it is known only if all kernels ran on one GPU.
fn worked(reading: &mut Reading<'_>, ops: &Ops) -> Int64Chunked {
    let census = &reading.capture.census;
    if !census.is_sdk {
        return ops.columns.integers("gpuId");
    }
    let only = census.kernel_gpus.first().copied().filter(|_| census.kernel_gpus.len() == 1);
    let height = ops.columns.height;
    if only.is_none() {
        let detail =
            "the tracer does not record the GPU of copies, and several GPUs worked; these copies belong to no GPU";
        reading.note("unknown_gpu", Severity::Warning, height, None, detail);
    }
    std::iter::repeat_n(only, height).collect_ca("".into())
}

/// Adds the sizes. If a call has several copies, only the first has the size, so that sums stay correct.
fn put_bytes(reading: &mut Reading<'_>, ops: &Ops, arguments: &Joined) {
    if !reading.wants(&["bytes"]) {
        return;
    }
    let column = |name| arguments.integers(name, &ops.calls);
    let (sizes, widths, heights) = (column("size"), column("width"), column("height"));
    let mut seen = BTreeSet::new();
    let mut repeated = Vec::with_capacity(ops.columns.height);
    let bytes: Vec<Option<i64>> = ops
        .calls
        .iter()
        .zip(sizes.iter())
        .zip(widths.iter().zip(heights.iter()))
        .map(|((call, size), (width, height))| {
            let area = width.zip(height).and_then(|(width, height)| width.checked_mul(height));
            let bytes = size.filter(|size| *size > 0).or(area.filter(|area| *area > 0)).or(size);
            let again = bytes.is_some() && call.is_some_and(|call| !seen.insert(call));
            repeated.push(again);
            bytes.filter(|_| !again)
        })
        .collect();
    reading.put_integers("bytes", bytes);
    let (count, first) = count_first(repeated.into_iter(), &ops.columns.integers("id"));
    let detail = "further copies of a call with a single total size; the first copy has the bytes";
    reading.note("shared_size", Severity::Info, count, first, detail);
}

//! `kernels` and `counter_dispatches` from `kernel_dispatch`, and from counter records whose dispatch is not there.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::capture::{Capture, Findings, FromRecord};
use super::integers::{Field, Integers, every};
use super::reading::{Reading, ordinals, zero_as_null};
use super::records::{CountedDispatch, Dispatch, KeyedText};
use super::roles::{COUNTERS, DISPATCHES};
use crate::input::common::{TableBuilder, count_rows, or_else, zeros};
use crate::trace::frames::{dictionary_column, dictionary_column_at};
use crate::trace::source::Severity;

const TIMES: &[&str] = &["start_ns", "end_ns", "duration_ns", "valid"];

const FIELDS: &[Field<Dispatch>] = &[
    Field { name: "dispatch_id", for_columns: &[], get: |r| r.dispatch_info.dispatch_id.0 },
    Field {
        name: "kernel_id",
        for_columns: &["kernel_id", "kernel_name", "short_name", "category"],
        get: |r| r.dispatch_info.kernel_id.0,
    },
    Field { name: "agent_id", for_columns: &["agent_id", "gpu", "device"], get: |r| r.dispatch_info.agent_id.0 },
    Field { name: "queue_id", for_columns: &["queue_id"], get: |r| r.dispatch_info.queue_id.0 },
    Field { name: "stream_id", for_columns: &["stream_id"], get: |r| r.stream_id.0 },
    Field { name: "tid", for_columns: &["tid"], get: |r| r.thread_id.0 },
    Field { name: "correlation_id", for_columns: &["correlation_id"], get: |r| r.correlation_id.internal.nonzero() },
    Field {
        name: "external_id",
        for_columns: &["external_id", "region_name"],
        get: |r| r.correlation_id.external.nonzero(),
    },
    Field { name: "start", for_columns: TIMES, get: |r| r.start_timestamp.0 },
    Field { name: "end", for_columns: TIMES, get: |r| r.end_timestamp.0 },
    Field { name: "workgroup_x", for_columns: &["workgroup_x"], get: |r| r.dispatch_info.workgroup_size.x.0 },
    Field { name: "workgroup_y", for_columns: &["workgroup_y"], get: |r| r.dispatch_info.workgroup_size.y.0 },
    Field { name: "workgroup_z", for_columns: &["workgroup_z"], get: |r| r.dispatch_info.workgroup_size.z.0 },
    Field { name: "grid_x", for_columns: &["grid_x"], get: |r| r.dispatch_info.grid_size.x.0 },
    Field { name: "grid_y", for_columns: &["grid_y"], get: |r| r.dispatch_info.grid_size.y.0 },
    Field { name: "grid_z", for_columns: &["grid_z"], get: |r| r.dispatch_info.grid_size.z.0 },
    Field { name: "lds_bytes", for_columns: &["lds_bytes"], get: |r| r.dispatch_info.group_segment_size.0 },
    Field { name: "scratch_bytes", for_columns: &["scratch_bytes"], get: |r| r.dispatch_info.private_segment_size.0 },
    Field { name: "graph_exec_id", for_columns: &["graph_exec_id", "graph_node_id"], get: |r| r.graph_exec_id.0 },
    Field { name: "graph_node_id", for_columns: &["graph_node_id"], get: |r| r.graph_node_id.0 },
];

/// Dispatches in the order of the file, those that only a counter record names at the end.
fn dispatches(capture: &Capture, builder: &TableBuilder<'_>, findings: &mut Findings) -> Result<Integers> {
    let mut all = Integers::default();
    for section in capture.process.named(DISPATCHES) {
        all.append(Integers::read::<Dispatch, Dispatch>(capture, section, builder, FIELDS, every, findings)?)?;
    }
    if capture.process.rows(COUNTERS) > 0 {
        let mut seen: BTreeSet<i64> = all.get("dispatch_id").iter().flatten().collect();
        for section in capture.process.named(COUNTERS) {
            let counted =
                Integers::read::<CountedDispatch, Dispatch>(capture, section, builder, FIELDS, every, findings)?;
            let new: BooleanChunked = counted
                .get("dispatch_id")
                .iter()
                .map(|id| Some(id.is_none_or(|id| seen.insert(id))))
                .collect_ca("".into());
            all.append(counted.filter(&new)?)?;
        }
    }
    Ok(all)
}

/// Assembles the dispatches; with `pass` the column of that name too.
///
/// # Errors
/// When the file cannot be read.
pub fn read(reading: &mut Reading<'_>, pass: Option<i64>) -> Result<()> {
    let capture = reading.capture;
    let mut rows = dispatches(capture, &reading.builder, &mut reading.findings)?;
    if pass.is_some() {
        rows = without_repeated(rows, &mut reading.findings)?;
    }
    reading.builder.set_height(rows.height);
    if let Some(pass) = pass {
        reading.put("pass", Int64Chunked::full("pass".into(), pass, rows.height));
    }
    let ids = or_else(&rows.get("dispatch_id"), &ordinals(rows.height));
    reading.put("dispatch_id", ids.clone());
    put_names(reading, &rows, &ids)?;
    reading.put_agent(&rows.get("agent_id"), &ids);
    for name in ["queue_id", "stream_id", "tid", "correlation_id", "external_id", "lds_bytes", "scratch_bytes"] {
        reading.put(name, rows.get(name));
    }
    for name in ["workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z"] {
        reading.put(name, or_else(&rows.get(name), &zeros(rows.height)));
    }
    put_region_name(reading, &rows)?;
    reading.builder.put_times(&rows.get("start"), &rows.get("end"));
    let graphs = zero_as_null(&rows.get("graph_exec_id"));
    let nodes = rows.get("graph_node_id");
    let nodes = nodes.iter().zip(graphs.iter()).map(|(node, graph)| node.filter(|_| graph.is_some()));
    reading.put("graph_node_id", nodes.collect_ca("".into()));
    reading.put("graph_exec_id", graphs);
    Ok(())
}

/// The first dispatch of each id: those of a pass are joined with their counters by it, and a second one would count
/// every value again.
fn without_repeated(rows: Integers, findings: &mut Findings) -> Result<Integers> {
    let mut seen = BTreeSet::new();
    let ids = rows.get("dispatch_id");
    let first: BooleanChunked = ids.iter().map(|id| Some(id.is_none_or(|id| seen.insert(id)))).collect_ca("".into());
    let before = rows.height;
    let rows = rows.filter(&first)?;
    findings.repeated(
        "counter_dispatches",
        before.saturating_sub(rows.height),
        "dispatch ids occur more than once in a pass; the first dispatch counts",
    );
    Ok(rows)
}

/// How many dispatches there are; of those of a pass the first of each id.
///
/// # Errors
/// When the file cannot be read.
pub fn count(reading: &mut Reading<'_>, of_pass: bool) -> Result<u64> {
    if reading.capture.process.rows(COUNTERS) == 0 && !of_pass {
        return Ok(reading.capture.process.rows(DISPATCHES));
    }
    let mut rows = dispatches(reading.capture, &reading.builder, &mut reading.findings)?;
    if of_pass {
        rows = without_repeated(rows, &mut reading.findings)?;
    }
    Ok(rows.height as u64)
}

fn put_names(reading: &mut Reading<'_>, rows: &Integers, ids: &Int64Chunked) -> Result<()> {
    let kernel_ids = rows.get("kernel_id");
    reading.put("kernel_id", or_else(&kernel_ids, &Int64Chunked::full("".into(), -1, rows.height)));
    if !reading.builder.wants(&["kernel_name", "short_name", "category"]) {
        return Ok(());
    }
    let categories = reading.builder.context.categories;
    let (symbols, findings) = reading.capture.symbols()?;
    reading.findings.extend(findings);
    let resolved = symbols.names.resolve(&symbols.index, &kernel_ids, categories);
    for (name, dictionary) in resolved.names.dispatch_columns() {
        reading.builder.put_with(name, || Ok(dictionary_column_at(name, dictionary, &resolved.positions)?))?;
    }
    let (count, first) = count_rows(&resolved.missing, ids);
    reading.builder.note(
        "missing_symbol",
        Severity::Warning,
        count,
        first,
        "dispatches name a kernel symbol without info row; they appear as kernel_<id>",
    );
    Ok(())
}

/// A text by its number.
pub struct Keyed(pub i64, pub String);

impl FromRecord for Keyed {
    type Record<'de> = KeyedText<'de>;

    fn from_record(record: KeyedText<'_>) -> Self {
        Self(record.key.0.unwrap_or(0), record.value.0.map(Into::into).unwrap_or_default())
    }
}

/// Adds the range names that kernel renaming left behind the external ids.
fn put_region_name(reading: &mut Reading<'_>, rows: &Integers) -> Result<()> {
    if !reading.builder.wants(&["region_name"]) {
        return Ok(());
    }
    let texts: Vec<Keyed> = reading.capture.gather("strings.correlation_id.external", &mut reading.findings)?;
    let names: Vec<Option<String>> = texts.iter().map(|Keyed(_, text)| Some(text.clone())).collect();
    let positions: BTreeMap<i64, usize> = texts
        .iter()
        .enumerate()
        .filter(|(_, Keyed(key, text))| *key != 0 && !text.is_empty())
        .map(|(position, Keyed(key, _))| (*key, position))
        .collect();
    let external = rows.get("external_id");
    let codes = external.iter().map(|id| id.and_then(|id| positions.get(&id).copied()));
    let column = dictionary_column("region_name", &names, codes)?;
    reading.builder.put("region_name", column);
    Ok(())
}
